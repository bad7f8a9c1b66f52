/**
 * Judges one event of a coding agent. No error may end as "no answer", because that lets the call
 * run.
 */

import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { registryStateOf } from '../core/registry/state-of.ts';
import { HostToolRegistry } from '../index.ts';
import { outputsOf } from '../parts/offload/outputs-of.ts';
import { reviewOf } from '../parts/rule-review/review-of.ts';
import {
  type Agent,
  agents,
  cacheFolder,
  decide,
  faultText,
  fileQuotas,
  forgetOld,
  HookFault,
  inTurn,
  nameFor,
  type Place,
  readEvent,
  requireRegularFile,
  sessionFile,
  spentBefore,
  stateFolder,
} from '../surfaces/agents/hooks.ts';
import type { HostedPart } from '../surfaces/config/file-host.ts';
import type { RulesOnly } from '../surfaces/config/for-hooks.ts';
import { readPrivateFile } from '../values/files/private-file.ts';
import { replaceFileSync } from '../values/files/whole-file.ts';
import { wireText } from '../values/json/index.ts';
import { packageVersion } from '../values/packages/own-version.ts';
import { didYouMean, nearestNames } from '../values/text/names.ts';
import { CliFault, usageFault } from './fault.ts';
import { type HookTask, hookTimeoutMs } from './hook-task.ts';
import { type Options, parseLine } from './options.ts';
import { printable } from './printable.ts';
import { requireSafeOutputs } from './safe-outputs.ts';
import { userHome } from './user-home.ts';

/** The input of one run. */
export interface HookRun extends HookTask {
  /** The event. */
  readonly stdin: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** How the run ends: 0 with the agent's JSON, or 2 with a reason. */
export type HookEnd =
  | { readonly exit: 0; readonly stdout: string }
  | { readonly exit: 2; readonly stderr: string };

/** Judges an event. Never rejects. */
export async function runHook(run: HookRun): Promise<HookEnd> {
  try {
    const { agent, options } = understand(run.argv);
    const answer = await judge(run, agent, options);
    return { exit: 0, stdout: `${wireText(agent.write(answer))}\n` };
  } catch (error) {
    const text = error instanceof CliFault ? error.message : faultText(error);
    return { exit: 2, stderr: `host-tools: ${printable(text)}\n` };
  }
}

/** @throws CliFault */
function understand(argv: readonly string[]): { agent: Agent; options: Options } {
  const { words, options, given, unknown } = parseLine(argv);
  const taken = ['host-tools', 'timeout-ms', 'audit'];
  const wrong = unknown ?? [...given].find((name) => !taken.includes(name));
  if (wrong !== undefined)
    throw usageFault(`\`hook\` takes no \`${wrong.startsWith('-') ? wrong : `--${wrong}`}\`.`);
  const [, name, extra] = words;
  const names = [...agents.keys()];
  const agent = name === undefined ? undefined : agents.get(name);
  if (agent === undefined)
    throw usageFault(
      name === undefined
        ? `\`hook\` needs the name of an agent: ${names.join(', ')}.`
        : `Unknown agent \`${name}\`.${didYouMean(nearestNames(name, names))} Agents are ` +
            `${names.join(', ')}.`,
    );
  if (extra !== undefined) throw usageFault(`\`hook\` takes one agent, but also got \`${extra}\`.`);
  if (options.sources.length === 0)
    throw usageFault('`hook` needs the file with the rules: `--host-tools FILE`.');
  return { agent, options };
}

async function judge(
  { stdin, env, cwd, now, log, known }: HookRun,
  agent: Agent,
  { sources, timeoutMs = hookTimeoutMs, audit }: Options,
): ReturnType<typeof decide> {
  const until = Date.now() + timeoutMs;
  const read = readEvent(agent, stdin);
  const files = sources.map(({ name }) => name);
  const home = userHome(env);
  const place = { stateHome: env.XDG_STATE_HOME, home };
  const folder = stateFolder(place);
  const paths = files.map((file) => resolve(cwd, file));
  const registry = new HostToolRegistry({
    // Without a logger, since the answer reports any failure.
    quotaStore:
      read.event.kind === 'before'
        ? fileQuotas(join(folder, nameFor('quotas', ...paths)), until, now)
        : spentBefore,
    policyTimeoutMs: timeoutMs,
  });
  const state = registryStateOf(registry);
  outputsOf(state).onDemand = {};
  // It would take time at each event. `validate` does it.
  reviewOf(state).isOff = true;
  const logs = await load(registry, paths, known, () => cacheFolder(place));
  if (read.event.kind !== 'before') forgetOld(folder, now());
  const auditPath = audit === undefined ? (onlyLog(logs) ?? log) : resolve(cwd, audit);
  if (auditPath !== undefined)
    requireSafeOutputs(
      [
        ...files.map((path) => ({ name: '`--host-tools`', path, use: 'read' as const })),
        { name: 'the audit log', path: auditPath, use: 'log' },
      ],
      cwd,
    );
  return decide(
    {
      agent,
      registry,
      files,
      place: placeOf(agent, read.cwd, cwd, home, env),
      principal: userInfo().username,
      session: sessionFile(join(folder, nameFor('session', agent.name, read.sessionId)), until),
      audit:
        auditPath === undefined
          ? undefined
          : async (more) => {
              requireRegularFile(auditPath);
              const { createAuditLog } = await import('../surfaces/audit/index.ts');
              return inTurn(() => createAuditLog({ path: auditPath, ...more }), auditPath, until);
            },
    },
    read,
  );
}

/**
 * Loads the files. Every entry must load, because a missing one might have denied the call.
 * @returns where they say that calls are recorded
 */
async function load(
  registry: HostToolRegistry,
  paths: readonly string[],
  known: HookRun['known'],
  cache: () => string | undefined,
): Promise<Set<string>> {
  const logs = new Set<string>();
  const others: { readonly path: string; readonly keep: KeptRules['keep'] }[] = [];
  for (const path of new Set(paths)) {
    const kept = known?.path === path ? undefined : keptRules(path, cache());
    const content = kept === undefined ? known?.content : kept.content;
    if (content === undefined) {
      others.push({ path, keep: kept?.keep as KeptRules['keep'] });
      continue;
    }
    registry.addRules(content.rules);
    registry.addQuotas(content.quotas);
    if (content.audit?.path !== undefined) logs.add(resolve(dirname(path), content.audit.path));
  }
  // Describing the format of files takes a fifth of a hook's time.
  if (others.length === 0) return logs;
  const { loadHostTools, rulesOnly, setFileHost } = await import('../surfaces/config/for-hooks.ts');
  setFileHost(registry as unknown as HostToolRegistry<never>, {
    problem: (_, part) => problemOf(part),
    take({ path, audit }) {
      if (audit?.path !== undefined) logs.add(resolve(dirname(path), audit.path));
    },
  });
  for (const { path, keep } of others) {
    const { failed } = await loadHostTools(path, registry);
    const [first] = failed;
    if (first === undefined) {
      keep(await rulesOnly(path));
      continue;
    }
    const { file, line = 1, section, index, name, reason } = first;
    throw new HookFault(
      `${file}:${line}: ${section}[${index}]${name === undefined ? '' : ` \`${name}\``}: ${reason}`,
    );
  }
  return logs;
}

/** Why a hook takes no file with this part; undefined if it does. */
function problemOf(part: HostedPart): string | undefined {
  switch (part.section) {
    case 'audit':
      return part.value.path === undefined
        ? 'a hook opens no store: expected `path`, the file of the log'
        : undefined;
    case 'store':
      return (
        'a hook opens no store, and keeps what quotas count in files of its own: give it a file ' +
        'without `store`'
      );
    case 'code':
      return (
        'a hook runs no programs, and judges each call that an agent makes: give it a file ' +
        'without `code`'
      );
    case 'authorization':
      return 'a hook has no clients with tokens: use `host-tools serve --http`';
    case 'credentials':
      return 'a hook runs no tools, so they need no credentials: give it a file without the key';
    case 'openapi':
      return 'a hook imports no APIs: use `host-tools serve`';
    case 'network':
      return undefined;
    default:
      return 'a hook starts no servers: use `host-tools serve`';
  }
}

/** Each call is recorded in only one log. @throws HookFault */
function onlyLog(logs: ReadonlySet<string>): string | undefined {
  if (logs.size > 1)
    throw new HookFault(
      `The files name several audit logs: ${[...logs].join(', ')}. Keep one, or give \`--audit ` +
        'FILE`.',
    );
  const [log] = logs;
  return log;
}

function placeOf(
  { projectVariable }: Agent,
  eventCwd: string,
  cwd: string,
  home: string,
  env: HookRun['env'],
): Place {
  const given = projectVariable === undefined ? undefined : env[projectVariable];
  // The model can choose the folder of a command, and with it `cwd` of the event. The hook itself
  // is started in the folder of the session.
  return { cwd: resolve(cwd, eventCwd), project: resolve(cwd, given || '.'), home };
}

// Keeps the rules of files that have loaded, so that the next hook need not parse and check them
// again.

/** Larger files are read each time. */
const maxBytes = 1_000_000;

/** What is kept of a file. */
export interface KeptRules {
  /** Undefined if nothing is kept of the file as it is now. */
  readonly content: RulesOnly | undefined;
  /** Keeps the rules for later hooks. Never throws. */
  keep(content: RulesOnly | undefined): void;
}

/** @param folder Only its owner can use it. Undefined if nothing is kept. */
export function keptRules(path: string, folder: string | undefined): KeptRules {
  const digest = folder === undefined ? undefined : digestOf(path);
  if (folder === undefined || digest === undefined) return { content: undefined, keep: () => {} };
  const file = join(folder, `rules-${digest}`);
  return {
    content: readKept(file),
    keep(content) {
      // The file may have changed since.
      if (content === undefined || digestOf(path) !== digest) return;
      try {
        replaceFileSync(file, JSON.stringify(content), { durable: false });
        forgetOld(folder, Date.now());
      } catch {
        // The next hook reads the file again.
      }
    },
  };
}

/** Undefined for a file that is to be read as usual, which reports what is wrong with it. */
function digestOf(path: string): string | undefined {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    const hash = createHash('sha256')
      .update(packageVersion)
      .update(path.endsWith('.json') ? 'j' : 'y');
    return hash.update(readFileSync(path)).digest('hex').slice(0, 40);
  } catch {
    return undefined;
  }
}

function readKept(file: string): RulesOnly | undefined {
  try {
    const bytes = readPrivateFile(file, 'so it is not used');
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as RulesOnly);
  } catch {
    return undefined;
  }
}
