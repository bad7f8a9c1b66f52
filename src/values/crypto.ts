/** Hashes and ids. What makes them is loaded when it is first used: that takes a tenth of an import. */

interface Runtime {
  readonly process?: { getBuiltinModule?(name: string): typeof import('node:crypto') | undefined };
}

let loaded: typeof import('node:crypto') | undefined;

/** @throws Error in a runtime without `node:crypto`, such as a browser. */
export function nodeCrypto(): typeof import('node:crypto') {
  loaded ??= (globalThis as Runtime).process?.getBuiltinModule?.('node:crypto');
  if (loaded === undefined)
    throw new Error(
      'host-tools needs `node:crypto`: run it on Node 20.19 or newer, Bun, Deno, or a worker with ' +
        'compatibility for Node, where `process.getBuiltinModule` gives it.',
    );
  return loaded;
}

/** The SHA-256 digest of a text. */
export function sha256(text: string, encoding: 'hex' | 'base64url' = 'hex'): string {
  return nodeCrypto().createHash('sha256').update(text).digest(encoding);
}

/** A random UUID, version 4. */
export function randomUUID(): string {
  return nodeCrypto().randomUUID();
}
