export const layers: { [folder: string]: { may: string[]; types?: string[] } };
