/** More bytes in one answer are no answer any more, whether they are an error page or a stream without an end. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * `fetch` for model calls. No redirects: none of these services sends any, and the headers that carry keys would be
 * sent along to wherever one points. A body that is too long breaks off.
 */
export const modelFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: "error" });
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limited(MOST_BYTES)), { status, statusText, headers });
};

export function limited(most: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(piece, controller) {
      bytes += piece.byteLength;
      if (bytes > most) controller.error(new Error("the answer is too long"));
      else controller.enqueue(piece);
    },
  });
}
