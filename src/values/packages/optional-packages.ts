/** The packages that npm does not install with this library, and the versions that work. */

const versions = {
  '@anthropic-ai/claude-agent-sdk': '0.3',
  '@cedar-policy/cedar-wasm': '4',
  '@langchain/core': '1',
  '@modelcontextprotocol/client': '2',
  '@modelcontextprotocol/server': '2',
  '@open-policy-agent/opa-wasm': '1',
  '@opentelemetry/api': '1',
  bullmq: '6',
  ioredis: '6',
  unbash: '6',
  ws: '8',
} as const;

export type OptionalPackage = keyof typeof versions;

/** For tests, which compare it with the ranges of package.json. */
export const optionalPackages: Readonly<Record<string, string>> = versions;

/** Packages that another one does not work without here, and does not bring. */
export const companions: Readonly<Partial<Record<string, readonly OptionalPackage[]>>> = {
  bullmq: ['ioredis'],
};

/** A package with its version, as `npm install` and `npx` take it. */
export function versioned(name: string): string {
  return Object.hasOwn(optionalPackages, name) ? `${name}@${optionalPackages[name]}` : name;
}
