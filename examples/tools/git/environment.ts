// What git sees of the machine and of its configuration: as little as it needs.
import { devNull } from 'node:os';
import { join } from 'node:path';

const IDENTITY = [
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
] as const;

/**
 * A repository's own configuration may name programs to run; each such setting that our actions
 * could meet is overridden here, all but the filters of `add` and `checkout`, which are the host's
 * to set: no tool of ours can write into `.git`.
 */
export const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.askPass=',
  'core.quotePath=false',
  'color.ui=false',
  'credential.helper=',
  'commit.gpgSign=false',
  'log.showSignature=false',
  'submodule.recurse=false',
  'push.recurseSubmodules=no',
  'gc.auto=0',
  'maintenance.auto=false',
];

/**
 * The whole environment of a run; nothing else of the host's is passed on. The repository is named,
 * so that git looks for none.
 */
export function gitEnvironment(
  root: string,
  environment: Readonly<Record<string, string>>,
): Record<string, string> {
  const identity = Object.fromEntries(
    IDENTITY.map((name) => [
      name,
      environment[name] ?? (name.endsWith('NAME') ? 'host-tools example' : 'example@localhost'),
    ]),
  );
  const system = Object.fromEntries(
    ['PATH', 'SystemRoot', 'TEMP'].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]],
    ),
  );
  return {
    ...system,
    ...identity,
    LC_ALL: 'C',
    GIT_DIR: join(root, '.git'),
    GIT_WORK_TREE: root,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'file',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
  };
}
