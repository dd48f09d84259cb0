const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** The path of a key: `steps[0].tell`; a key that is no plain name stands in brackets (`tell["mail.send"]`). */
export function keyPath(path: string, key: string): string {
  if (!PLAIN_KEY.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** The path of an element of a list. */
export function itemPath(path: string, index: number): string {
  return `${path}[${index}]`;
}
