/**
 * What holds of the official conformance suite, and what does not, with the reasons. The runner
 * fails where the suite finds anything else: a fault that is not here, a scenario that holds
 * although it is here, and another number of scenarios that hold.
 */

/**
 * What is tried: a server with tools of its own, and with prompts and resources behind a gateway; an
 * import; and a gateway as the client.
 */
export type Subject = 'server' | 'client' | 'gateway';
/** A version of the protocol, or what is part of none. */
export type Version = '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28' | 'extension';
export const versions: readonly Version[] = [
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
  '2026-07-28',
  'extension',
];

export interface Expected {
  /** How many scenarios hold. */
  readonly held: number;
  /** Those that do not, by name, or by name and check (`name:check`), each with the reason. */
  readonly not: Readonly<Record<string, string>>;
}

const all = (names: readonly string[], reason: string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, reason]));

// Behind the server.
const completion = all(['completion-complete'], 'completions are not passed on');
const subscriptions = all(
  ['resources-subscribe', 'resources-unsubscribe'],
  'changes of one resource are not passed on',
);
const asking = {
  ...all(
    ['input-required-result-basic-list-roots', 'input-required-result-multiple-input-requests'],
    'a tool cannot ask for the roots of a client, which the protocol is giving up',
  ),
  'input-required-result-non-tool-request': 'a prompt asks nothing',
};
const skills = 'skills (SEP-2640) are not held';

const skillClients = [
  'sep-2640-client-no-prefetch',
  'sep-2640-client-verify-digest',
  'sep-2640-client-verify-size',
  'sep-2640-client-verify-frontmatter',
];

// Behind the clients.
const noUser = 'an import has no user to ask; a gateway passes questions on';
const noClient = 'no client is connected to the gateway here, so nobody can be asked';

export const expected: Readonly<Record<Subject, Partial<Record<Version, Expected>>>> = {
  server: {
    '2025-03-26': { held: 1, not: {} },
    '2025-06-18': { held: 24, not: { ...completion, ...subscriptions } },
    '2025-11-25': { held: 30, not: { ...completion, ...subscriptions } },
    '2026-07-28': {
      held: 35,
      not: {
        ...completion,
        ...asking,
        'server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription':
          'the prompts of the fixture stay as they are',
      },
    },
    extension: {
      held: 9,
      not: {
        'tasks-status-notifications': 'the suite makes no check yet, and none are sent',
        ...all(
          ['sep-2640-skills-directory', 'sep-2640-skills-enumeration', 'sep-2640-skills-manifest'],
          skills,
        ),
      },
    },
  },
  client: {
    '2025-03-26': { held: 2, not: {} },
    '2025-06-18': { held: 5, not: {} },
    '2025-11-25': {
      held: 18,
      not: { 'elicitation-sep1034-client-defaults': noUser },
    },
    '2026-07-28': { held: 32, not: { 'sep-2322-client-request-state': noUser } },
    extension: {
      held: 6,
      not: all(skillClients, skills),
    },
  },
  gateway: {
    '2025-03-26': { held: 2, not: {} },
    '2025-06-18': { held: 5, not: {} },
    '2025-11-25': {
      held: 18,
      not: { 'elicitation-sep1034-client-defaults': noClient },
    },
    '2026-07-28': {
      held: 32,
      not: {
        'sep-2322-client-request-state': 'questions pass a gateway in the 2025 era only',
      },
    },
    extension: {
      held: 6,
      not: all(skillClients, skills),
    },
  },
};

/** How many scenarios there are. */
export function total({ held, not }: Expected): number {
  return held + new Set(Object.keys(not).map((key) => key.split(':', 1)[0])).size;
}

/** What does not hold, by the reasons, in the order in which they come first. */
export function reasons(): (readonly [string, readonly string[]])[] {
  const found = new Map<string, Set<string>>();
  for (const table of Object.values(expected))
    for (const { not } of Object.values(table))
      for (const [name, reason] of Object.entries(not))
        found.set(reason, (found.get(reason) ?? new Set()).add(`\`${name}\``));
  return [...found].map(([reason, names]) => [reason, [...names]] as const);
}
