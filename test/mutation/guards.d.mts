export const guards: { name: string; file: string; find: string; broken: string; tests: string[] }[];
