// What the scripted agent does, and what must come of it.

export interface Step {
  readonly note: string;
  readonly tool: string;
  readonly input: unknown;
  /** `ok`, `cut` (ok, and the output was cut), or an error code and, after a space, its reason. */
  readonly expect: string;
  /** What the person answers when this call asks. */
  readonly answer?: 'allow_once' | 'reject_once';
  /** Whether the agent gives up as soon as the server has the request. */
  readonly abort?: true;
}

export interface Act {
  readonly profile: 'reviewer' | 'fixer' | 'release';
  readonly about: string;
  readonly steps: readonly Step[];
}

/** The acts, in order: a review of `source`, a fix and a release in the copy. */
export const acts: readonly Act[] = [
  {
    profile: 'reviewer',
    about: 'reads this repository and can change nothing',
    steps: [
      { note: 'The last commits', tool: 'git', input: { action: 'log', limit: 5 }, expect: 'ok' },
      {
        note: 'Case and blanks in the action do not matter',
        tool: 'git',
        input: { action: ' Branch_List ' },
        expect: 'ok',
      },
      {
        note: 'Where tools are defined',
        tool: 'search_files',
        input: { text: 'defineTool({', path: 'examples' },
        expect: 'ok',
      },
      {
        note: 'A few lines of a file',
        tool: 'read_file',
        input: { path: 'package.json', maxLines: 4 },
        expect: 'ok',
      },
      {
        note: 'A long file is cut to the budget of the profile',
        tool: 'read_file',
        input: { path: 'package-lock.json' },
        expect: 'cut',
      },
      { note: 'A status page', tool: 'fetch_status', input: { target: '/status' }, expect: 'ok' },
      {
        note: 'A page that never comes',
        tool: 'fetch_status',
        input: { target: '/slow' },
        expect: 'timeout',
      },
      {
        note: 'A page that sends us elsewhere',
        tool: 'fetch_status',
        input: { target: '/moved' },
        expect: 'handler_error redirect_refused',
      },
      {
        note: 'Another server',
        tool: 'fetch_status',
        input: { target: 'http://127.0.0.1:9/' },
        expect: 'policy_denied origin_not_allowed',
      },
      {
        note: 'An action that the profile does not have',
        tool: 'git',
        input: { action: 'commit', message: 'sneak this in' },
        expect: 'policy_denied action_not_allowed',
      },
      {
        note: 'An option in the place of a ref',
        tool: 'git',
        input: { action: 'show', ref: '--output=stolen.txt' },
        expect: 'policy_denied invalid_ref',
      },
      {
        note: 'A command in the place of a date',
        tool: 'git',
        input: { action: 'log', since: 'yesterday; id' },
        expect: 'policy_denied invalid_since_format',
      },
      {
        note: 'A path out of the root',
        tool: 'read_file',
        input: { path: '../../../../etc/passwd' },
        expect: 'policy_denied path_outside_root',
      },
      {
        note: 'A field that does not exist',
        tool: 'git',
        input: { action: 'log', depth: 5 },
        expect: 'invalid_input',
      },
      {
        note: 'A tool that the profile does not have',
        tool: 'write_file',
        input: { path: 'x', content: 'x' },
        expect: 'tool_not_available not_in_profile',
      },
      { note: 'A tool that nobody has', tool: 'gitt', input: {}, expect: 'tool_not_found' },
    ],
  },
  {
    profile: 'fixer',
    about: 'works on branches of its own; a person sees each commit',
    steps: [
      {
        note: 'A branch outside its own',
        tool: 'git',
        input: { action: 'branch_create', branch: 'hotfix' },
        expect: 'policy_denied branch_prefix_required',
      },
      {
        note: 'A branch of its own',
        tool: 'git',
        input: { action: 'branch_create', branch: 'fix/demo' },
        expect: 'ok',
      },
      {
        note: 'Onto it',
        tool: 'git',
        input: { action: 'checkout', branch: 'fix/demo' },
        expect: 'ok',
      },
      {
        note: 'A change',
        tool: 'write_file',
        input: { path: 'notes/demo.md', content: '# Demo\n\nWritten by the scripted agent.\n' },
        expect: 'ok',
      },
      {
        note: 'A write through a link that leads out',
        tool: 'write_file',
        input: { path: 'shortcut/owned.txt', content: 'x' },
        expect: 'policy_denied symlink_refused',
      },
      {
        note: 'A file that a rule protects',
        tool: 'write_file',
        input: { path: 'package.json', content: '{}' },
        expect: 'policy_denied manifest_protected',
      },
      {
        note: 'Away, with changes lying about',
        tool: 'git',
        input: { action: 'checkout', branch: 'main' },
        expect: 'policy_denied dirty_worktree',
      },
      {
        note: 'Too much at once',
        tool: 'git',
        input: { action: 'add', paths: ['a', 'b', 'c', 'd', 'e', 'f'] },
        expect: 'policy_denied too_many_files',
      },
      {
        note: 'The one file',
        tool: 'git',
        input: { action: 'add', paths: ['notes/demo.md'] },
        expect: 'ok',
      },
      {
        note: 'A commit that the person refuses',
        tool: 'git',
        input: { action: 'commit', message: 'wip' },
        expect: 'approval_denied',
        answer: 'reject_once',
      },
      {
        note: 'A commit that the person grants',
        tool: 'git',
        input: { action: 'commit', message: 'Add a note about the demo' },
        expect: 'ok',
        answer: 'allow_once',
      },
      {
        note: 'The agent gives up waiting',
        tool: 'fetch_status',
        input: { target: '/slow' },
        expect: 'cancelled',
        abort: true,
      },
    ],
  },
  {
    profile: 'release',
    about: 'publishes release branches, when a person agrees',
    steps: [
      {
        note: 'A branch that is not for release',
        tool: 'git',
        input: { action: 'push', branch: 'fix/demo' },
        expect: 'policy_denied branch_prefix_required',
      },
      {
        note: 'A release branch from the fix',
        tool: 'git',
        input: { action: 'branch_create', branch: 'release/demo', ref: 'fix/demo' },
        expect: 'ok',
      },
      {
        note: 'The push, granted',
        tool: 'git',
        input: { action: 'push', branch: 'release/demo' },
        expect: 'ok',
        answer: 'allow_once',
      },
    ],
  },
];
