import { expect, it } from "vitest";
import { limited } from "./provider-fetch.ts";

async function read(sizes: number[], most: number): Promise<number> {
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const size of sizes) controller.enqueue(new Uint8Array(size));
      controller.close();
    },
  });
  return (await new Response(source.pipeThrough(limited(most))).arrayBuffer()).byteLength;
}

it("lets an answer through up to its bound and breaks off beyond it", async () => {
  expect(await read([4, 6], 10)).toBe(10);
  await expect(read([4, 7], 10)).rejects.toThrow();
});
