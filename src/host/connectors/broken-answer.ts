/** JSON-RPC's own code for what cannot be parsed; `data` tells ours from one that a server sent. */
export const PARSE_ERROR = -32_700;
/** `data` of the error that stands for an answer which cannot be read. */
export const BROKEN_FRAME = "ambit.broken_frame";
/** `data` of the error that stands for an answer which will not come any more. */
export const LOST = "ambit.connection_lost";
