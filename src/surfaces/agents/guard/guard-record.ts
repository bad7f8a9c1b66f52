/** The folder of an installed guard, and what `hook install` has recorded in it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files in it, beside `guard.json` and the audit log. */
export const guardFiles = {
  /** The hook. */
  hook: 'hook.cjs',
  /** What it judges with. */
  judge: 'hook-judge.cjs',
  /** The rules. They may be edited; `hook install` then accepts the edit. */
  rules: 'rules.yaml',
} as const;

/** What is recorded. */
export interface GuardRecord {
  /** The agent that it guards. */
  readonly agent: string;
  /** Whether the hook keeps the audit log, since the rules name none. */
  readonly audit: boolean;
  /** SHA-256 of each file, in hexadecimal. */
  readonly digests: Readonly<Record<string, string>>;
}

/**
 * The folder of the guard of an agent. It belongs to the user and not to a project, where the agent
 * may write.
 * @param env `XDG_CONFIG_HOME`, if it is an absolute path, is where programs keep their settings.
 */
export function guardFolder(
  agent: string,
  home: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const { XDG_CONFIG_HOME: given = '' } = env;
  return join(given.startsWith('/') ? given : join(home, '.config'), 'host-tools/guard', agent);
}

/** @throws Error if there is no record that can be understood */
export function readGuard(folder: string): GuardRecord {
  const path = join(folder, 'guard.json');
  try {
    const { agent, audit, digests } = JSON.parse(readFileSync(path, 'utf8')) as GuardRecord;
    const names: readonly string[] = Object.values(guardFiles);
    const isWhole = names.every((name) => /^[0-9a-f]{64}$/.test(digests[name] ?? ''));
    if (typeof agent === 'string' && typeof audit === 'boolean' && isWhole)
      return {
        agent,
        audit,
        digests: Object.fromEntries(names.map((name) => [name, digests[name] as string])),
      };
  } catch {
    // Continues below.
  }
  throw new Error(
    `${path} is missing or was changed. Run \`host-tools hook install AGENT\` again.`,
  );
}
