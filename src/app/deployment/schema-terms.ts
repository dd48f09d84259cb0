/** What the schemas of the sections of `ambit.yaml` are made of. */
import {
  duration,
  integer,
  list,
  mapOr,
  open,
  reference,
  type Schema,
  text,
  type Words,
  when,
} from "../../text/schema.ts";

const SIZE = "^[1-9][0-9]{0,8}(?:B|KiB|MiB|GiB)$";
const RATE = "^(?:none|[1-9][0-9]{0,6}/[smh])$";
const ACTION = "^[A-Za-z_][A-Za-z0-9_-]*\\.[A-Za-z_][A-Za-z0-9_-]*$";
const ACTIONS = "^[A-Za-z_][A-Za-z0-9_-]*\\.(?:\\*|[A-Za-z_][A-Za-z0-9_-]*)$";

export const full = (words: Words = {}): Schema => ({ ...text(words), minLength: 1 });
export const path = (words: Words = {}): Schema => full(words);
export const texts = (words: Words = {}): Schema => list(text(), words);
export const size = (words: Words = {}): Schema => text(words, SIZE, "A size is written like 64MiB or 512KiB.");
export const rate = (words: Words = {}): Schema => text(words, RATE, "A rate is written like 10/s or 100/m, or none.");
export const count = (words: Words = {}): Schema => integer({ min: 1 }, words);
export const secretHere = (words: Words = {}): Schema => reference("secret", words);
export const textOrSecret = (): Schema => mapOr(reference("secret"), text());
export const actionName = (words: Words = {}): Schema => text(words, ACTION, "Write connector.action.");
export const actions = (words: Words = {}): Schema =>
  list(text({}, ACTIONS, "Write connector.action or connector.*."), words);
export const values = (words: Words = {}): Schema => open({}, null, words);

export function noneOrDuration(words: Words): Schema {
  return { ...words, ...when({ enum: ["none"] }, {}, duration()) } as Schema;
}
