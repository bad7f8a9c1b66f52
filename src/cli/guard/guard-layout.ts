/** Which files an agent in the sandbox may write, which it must not, and which it does not see. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Agent, UserHome } from '../../surfaces/agents/hooks.ts';
import { cachePath } from '../../surfaces/agents/state/state-folder.ts';
import { isFileOf } from '../../surfaces/audit/log-files.ts';
import { makeFolder, stateFolderOf } from '../../values/files/private-folder.ts';
import { placeOf } from '../../values/files/same-file.ts';
import { failure } from '../fault.ts';
import { auditName, guardFolder, recordName } from './guard-folder.ts';
import { type Guarded, isAbsent, isIn, type MountPlan, planMounts, type Wish } from './mounts.ts';

/** What is to run, and for whom. */
export interface GuardRun {
  /** The folder of the project, with its links resolved. */
  readonly project: string;
  readonly user: UserHome;
  readonly agents: readonly Agent[];
  /** The agent that the command names. */
  readonly agent: Agent | undefined;
  /** The file that the command line names. */
  readonly file: string | undefined;
  /** The audit log of that file. */
  readonly log: string | undefined;
  readonly command: readonly string[];
}

/** The files of a sandbox. */
export interface GuardLayout extends MountPlan {
  /** Folders in whose place there is an empty one, of this run alone. */
  readonly hidden: readonly string[];
  /** What stays visible in them, and cannot be written. */
  readonly shown: readonly string[];
  /** Sockets of other programs, which would do what they are asked outside the sandbox. */
  readonly sockets: readonly string[];
}

/** Temporary files of other programs, and the sockets of services, lie there. */
const hidden = ['/tmp', '/var/tmp', '/run'];

/**
 * What programs of the user run or obey in a project, without being asked. What is missing is
 * replaced by an empty folder, which git does not list.
 */
const inProject = [
  ...[
    '.claude',
    '.codex',
    '.gemini',
    '.qwen',
    '.mcp.json',
    '.cursor',
    '.vscode',
    '.husky',
    '.envrc',
  ],
  ...['.git/hooks', '.git/config', '.git/config.worktree'],
];

/** Most files beside an audit log. Each becomes a mount. */
const maxBeside = 500;

/** @throws CliFault 1 */
export function guardLayout(run: GuardRun): GuardLayout {
  const { project, user } = run;
  const home = placeOf(user.home);
  if (isIn(project, home) || hidden.some((one) => isIn(project, placeOf(one))))
    throw failure(
      `The agent may write in the folder where it is started, and ${project} holds more than one ` +
        'project. Start it in the folder of a project.',
    );
  const config = dirname(dirname(guardFolder('x', user)));
  const cache = cachePath({ stateHome: user.env.XDG_STATE_HOME, home: user.home });
  const guarded: Guarded[] = [
    ...[config, cache].map((path): Guarded => ({ path, absent: 'folder' })),
    ...guardedInProject(project),
  ];
  const hookState = stateFolderOf('hook', user.env.XDG_STATE_HOME, user.home);
  makeFolder(hookState);
  const agents = agentFiles(run);
  const writable = [project, placeOf(hookState), ...agents.writable];
  guarded.push(...agents.guarded);
  for (const { log, others } of logsOf(run)) {
    if (isIn(project, log)) continue;
    writable.push(placeOf(dirname(log)));
    guarded.push(...others);
  }
  if (run.file !== undefined) guarded.push({ path: run.file, absent: 'folder' });
  const own = ownPackage();
  if (own !== project) guarded.push({ path: own, absent: 'folder' });
  const inside = guarded.find(({ path }) => path !== own && isIn(placeOf(path), project));
  if (inside !== undefined)
    throw failure(
      `${project} lies in ${inside.path}, which the agent may not write. Start it elsewhere.`,
    );
  const plan = planMounts({ writable, guarded });
  const shown = shownIn(run, home);
  return {
    mounts: plan.mounts,
    missing: [...agents.missing, ...plan.missing],
    hidden: hidden.map((one) => placeOf(one)).filter((one) => existsSync(one)),
    shown,
    sockets: sockets(shown),
  };
}

/** What agents that the user has write and obey, in the home and in the project. */
function agentFiles({ agents, agent: started, project, user }: GuardRun): Wish & {
  readonly missing: readonly Guarded[];
} {
  const writable: string[] = [];
  const guarded: Guarded[] = [];
  const holders: Guarded[] = [];
  for (const agent of agents) {
    const state = agent.setup.state(user);
    if (!existsSync(placeOf(state.folder)) && agent !== started) continue;
    for (const [name, absent] of Object.entries(state.inProject ?? {})) {
      const path = join(project, name);
      if (dirname(path) !== project) holders.push({ path: dirname(path), absent: 'folder' });
      guarded.push({ path, absent: absent === 'file' ? absentOf(name) : absent });
    }
    for (const { folder, guarded: names } of [state, ...(state.others ?? [])]) {
      const place = placeOf(folder);
      holders.push({ path: place, absent: 'folder' });
      writable.push(place);
      const named = existsSync(place) ? namedIn(names, place) : [];
      for (const name of new Set([...names, ...named]))
        guarded.push({ path: join(place, name), absent: absentOf(name) });
    }
    for (const file of state.files.map((one) => placeOf(one))) {
      holders.push({ path: file, absent: { text: '{}\n' } });
      writable.push(file);
    }
  }
  const missing = [...new Map(holders.filter(isAbsent).map((one) => [one.path, one])).values()];
  return { writable, guarded, missing };
}

function guardedInProject(project: string): readonly Guarded[] {
  const git = join(project, '.git');
  const names = [...inProject];
  if (statSync(git, { throwIfNoEntry: false })?.isDirectory() !== true) names.push('.git');
  const hooks = /^\s*hookspath\s*=\s*"?([^"\n]+?)"?\s*$/im.exec(textOf(join(git, 'config')))?.[1];
  if (hooks !== undefined && isIn(project, resolve(project, hooks)))
    names.push(relative(project, resolve(project, hooks)));
  return [
    ...names.map((name): Guarded => ({ path: join(project, name), absent: 'folder' })),
    // With this file, git would read its configuration elsewhere. A dot means here.
    { path: join(git, 'commondir'), absent: { text: '.\n' } },
  ];
}

/** Files right in the folder of an agent's state that its settings name, such as scripts. */
function namedIn(settings: readonly string[], folder: string): readonly string[] {
  const text = settings.map((name) => textOf(join(folder, name))).join('\n');
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && text.includes(`/${entry.name}`))
    .map(({ name }) => name);
}

/** Empty if there is no such file. */
function textOf(path: string): string {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? readFileSync(path, 'utf8') : '';
}

/** An agent may refuse to start with a folder in place of a file, or with an empty file. */
function absentOf(name: string): Guarded['absent'] {
  if (/\.jsonc?$/.test(name)) return { text: '{}\n' };
  return /\.(?:toml|md|env)$/.test(name) ? { text: '' } : 'folder';
}

/** The audit logs that hooks write, and what else lies beside each. @throws CliFault 1 */
function logsOf(run: GuardRun): readonly { log: string; others: readonly Guarded[] }[] {
  const installed = run.agents
    .map(({ name }) => guardFolder(name, run.user))
    .filter((folder) => existsSync(join(folder, recordName)))
    .map((folder) => join(folder, auditName));
  return [...installed, ...(run.log === undefined ? [] : [run.log])].map((log) => {
    const folder = dirname(log);
    const names = existsSync(folder) ? readdirSync(folder) : [];
    if (!existsSync(folder) || isIn(folder, run.user.home) || names.length > maxBeside)
      throw failure(
        `The audit log ${log} needs a folder of its own, because hooks create files beside it: ` +
          'make one, and change `audit.path`.',
      );
    const others = names
      .map((name) => join(folder, name))
      .filter((path) => path !== log && !isFileOf(log, path))
      .map((path): Guarded => ({ path, absent: 'folder' }));
    return { log, others };
  });
}

/** The folder of this package: what is started next time. */
function ownPackage(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder)
    folder = dirname(folder);
  return folder;
}

/** What the command needs of the hidden folders: the folders right below them. */
function shownIn({ project, user, command, file }: GuardRun, home: string): readonly string[] {
  const words = command.filter((word) => isAbsolute(word) && existsSync(word));
  const path = (user.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  const needed = [project, home, process.execPath, ownPackage(), ...words, ...path];
  if (file !== undefined) needed.push(file);
  const shown = new Set<string>();
  for (const one of needed.flatMap((each) => [resolve(each), placeOf(each)]))
    for (const folder of hidden.map((each) => placeOf(each))) {
      const [first = ''] = relative(folder, one).split(sep);
      if (one !== folder && isIn(folder, one) && existsSync(join(folder, first)))
        shown.add(join(folder, first));
    }
  return [...shown];
}

/** Sockets with a path that programs listen on, where the agent would see them. */
function sockets(shown: readonly string[]): readonly string[] {
  const folders = [...hidden, '/dev', '/proc'].map((each) => placeOf(each));
  const found = new Set<string>();
  for (const line of readFileSync('/proc/net/unix', 'utf8').split('\n')) {
    const place = socketAt(/ (\/[^\n]*)$/.exec(line)?.[1]);
    if (place === undefined) continue;
    const isHidden = folders.some((folder) => isIn(folder, place));
    if (!isHidden || shown.some((one) => isIn(one, place))) found.add(place);
  }
  return [...found];
}

function socketAt(path: string | undefined): string | undefined {
  try {
    return path !== undefined && statSync(path).isSocket() ? realpathSync(path) : undefined;
  } catch {
    // It is gone, or this user cannot reach it.
    return undefined;
  }
}
