/** Hashes and ids. What makes them is loaded when it is first used, since that takes long. */

type NodeCrypto = typeof import('node:crypto');

interface Runtime {
  readonly process?: { getBuiltinModule?(name: string): NodeCrypto | undefined };
}

/** @throws Error in a runtime without `node:crypto`, such as a browser. */
export function nodeCrypto(): NodeCrypto {
  const found = (globalThis as Runtime).process?.getBuiltinModule?.('node:crypto');
  if (found !== undefined) return found;
  throw new Error(
    'host-tools needs `node:crypto`: run it on Node 20.19 or newer, Bun, Deno, or a worker with ' +
      'compatibility for Node, where `process.getBuiltinModule` gives it.',
  );
}

/** The SHA-256 digest of a text. */
export function sha256(text: string, encoding: 'hex' | 'base64url' = 'hex'): string {
  return nodeCrypto().createHash('sha256').update(text).digest(encoding);
}

/** A random UUID, version 4. */
export function randomUUID(): string {
  return nodeCrypto().randomUUID();
}
