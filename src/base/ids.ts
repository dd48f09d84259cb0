import { randomBytes } from "node:crypto";

/** Randomness as a parameter. */
export interface Ids {
  /** A fresh run id: sorts by time of making, `run_` + 26 characters of Crockford base 32. */
  run(now: number): string;
  /** Lowercase hex of `bytes` random bytes. */
  token(bytes: number): string;
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

function base32(value: bigint, length: number): string {
  let text = "";
  let rest = value;
  for (let i = 0; i < length; i++) {
    text = (ALPHABET[Number(rest & 31n)] ?? "0") + text;
    rest >>= 5n;
  }
  return text;
}

export const systemIds: Ids = {
  run: (now) => `run_${base32(BigInt(now), 10)}${base32(BigInt(`0x${randomBytes(10).toString("hex")}`), 16)}`,
  token: (bytes) => randomBytes(bytes).toString("hex"),
};
