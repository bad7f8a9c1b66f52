/** A handler that shows what a sandbox knows of a credential. */
export function show(_input, context) {
  const { github } = context.credentials ?? {};
  return {
    names: Object.keys(context.credentials ?? {}),
    length: github?.token.length,
    header: github?.headers().Authorization,
    environment: JSON.stringify(process.env).includes('Canary'),
    printed: JSON.stringify(context.credentials ?? {}).includes('Canary'),
  };
}
