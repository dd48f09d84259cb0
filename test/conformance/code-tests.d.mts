export const CODE_TESTS: { readonly [code: string]: string };
