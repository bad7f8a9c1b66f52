/** Logs in folders of their own, and registries whose calls they record. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type AnyTool,
  defineTool,
  HostToolRegistry,
  type RegistryOptions,
  type SessionOptions,
} from '../../../src/index.ts';
import { type AuditOptions, createAuditLog } from '../../../src/surfaces/audit/index.ts';

/** A folder that is removed when the test ends. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'audit-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

export const tool = (name: string, more: Record<string, unknown> = {}): AnyTool<unknown> =>
  defineTool({
    name,
    description: 'Does what the test says.',
    parameters: { type: 'object' },
    handler: () => 'ran',
    ...more,
  } as never) as AnyTool<unknown>;

/** A log over a file, a registry that it is attached to, and a session. */
export function setup({
  audit: options = {},
  tools = [tool('t')],
  registry: registryOptions = {},
  session: sessionOptions = {},
}: {
  audit?: AuditOptions;
  tools?: readonly AnyTool<unknown>[];
  registry?: RegistryOptions;
  session?: Partial<SessionOptions>;
} = {}) {
  const path = join(folder(), 'audit.jsonl');
  const faults: { readonly message: string | undefined; readonly err: unknown }[] = [];
  const registry = new HostToolRegistry({
    logger: {
      warn: () => {},
      error: (data: object, message?: string) =>
        void faults.push({ message, err: (data as { err?: unknown }).err }),
    },
    ...registryOptions,
  });
  registry.registerAll(tools);
  const audit = createAuditLog(options.sink === undefined ? { path, ...options } : options);
  onTestFinished(() => audit.close().catch(() => {}));
  const detach = audit.attach(registry);
  const session = registry.createSession({ sessionId: 's', ...sessionOptions });
  return { path, registry, session, audit, detach, faults, lines: () => linesIn(path) };
}

export type Line = Readonly<Record<string, unknown>>;

export function linesIn(path: string): Line[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}
