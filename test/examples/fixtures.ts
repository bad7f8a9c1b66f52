import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runGit } from '../../examples/tools/git/run.ts';
import {
  type CallOptions,
  type HostToolDefinition,
  HostToolRegistry,
  type JsonObject,
  type SessionOptions,
  type ToolResult,
  type ToolSession,
} from '../../src/index.ts';

/** A fresh folder that goes with its test. */
export async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'host-tools-test-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs git with the example's own runner; an exit code that is not 0 throws. */
export async function git(root: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runGit(args, { root });
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}

/** A repository on `main` with one commit of `readme.txt`. */
export async function tempRepository(): Promise<string> {
  const root = await tempFolder();
  await git(root, 'init', '--quiet', '--initial-branch=main');
  await writeFile(join(root, 'readme.txt'), 'first\n');
  await git(root, 'add', '--', 'readme.txt');
  await git(root, 'commit', '--quiet', '--message=first commit');
  return root;
}

/** A session over one tool and its knobs in a profile, as a host would make it. */
export function sessionOf<Name extends string, I, O, K>(
  tool: HostToolDefinition<Name, I, O, K, unknown>,
  knobs: JsonObject,
  options: Omit<SessionOptions<unknown>, 'sessionId' | 'profile'> = {},
): { session: ToolSession; call: (input: unknown, options?: CallOptions) => Promise<ToolResult> } {
  const registry = new HostToolRegistry();
  registry.register(tool);
  registry.defineProfile({ id: 'test', tools: [{ name: tool.name, knobs }] });
  const session = registry.createSession({ sessionId: 'test', profile: 'test', ...options });
  onTestFinished(() => registry.close());
  return { session, call: (input, callOptions) => session.call(tool.name, input, callOptions) };
}

/** What a result comes to, in one line: `ok`, or the code and the reason. */
export function outcome(result: ToolResult): string {
  if (result.success) return 'ok';
  return [result.error.code, result.error.reason].filter((part) => part !== undefined).join(' ');
}
