/** The shape of `src` as rules. The tables come first; the rest reads the files and compares. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import tsupConfig, { partFiles } from '../tsup.config.ts';

/**
 * What lies directly in the folders of `src`, bottom first. A file imports from its own
 * entry and from the entries before it in this list, never from one after it; types count. So the
 * entries form no circle. A new entry goes right after the last one that it imports.
 */
const sections: Readonly<
  Record<
    | 'values'
    | 'api'
    | 'storage'
    | 'core'
    | 'engines'
    | 'parts'
    | 'assembly'
    | 'public'
    | 'surfaces',
    readonly string[]
  >
> = {
  // They know no tool.
  values: [
    'values/json',
    'values/errors',
    'values/text',
    'values/options',
    'values/maybe-promise',
    'values/packages',
    'values/files',
    'values/limits',
    'values/crypto',
    'values/schema',
    'values/credential',
    'values/capabilities',
    'values/content-parts',
    'values/content',
    'values/logging',
    'values/http',
  ],
  // The types that hosts write and read, those of parts too. No code: see below.
  api: ['api'],
  // What all drivers share, and the one that parts use unless they are given another.
  storage: ['stores/shared', 'stores/memory', 'stores/files'],
  // It knows no part, also not by its types.
  core: [
    'core/approval',
    'core/result',
    'core/serialize',
    'core/slot',
    'core/tool',
    'core/rules',
    'core/part',
    'core/events',
    'core/toolset',
    'core/call',
    'core/alongside',
    'core/session',
    'core/gates',
    'core/registry',
    'core/mount',
  ],
  // They know no tool either. The core does without them, since they are large.
  engines: ['values/json-schema', 'values/redaction'],
  // What hosts may leave out. None of them imports another.
  parts: [
    'parts/code',
    'parts/credentials',
    'parts/delegation',
    'parts/diagnostics',
    'parts/discovery',
    'parts/durable-approvals',
    'parts/explain',
    'parts/idempotency',
    'parts/json-schema',
    'parts/look-alikes',
    'parts/offload',
    'parts/origins',
    'parts/quotas',
    'parts/rule-review',
    'parts/scopes',
    'parts/secrets',
    'parts/undo',
    'parts/versions',
  ],
  // The registry with its parts.
  assembly: [
    'assembly/part-table',
    'assembly/core-registry',
    'assembly/load-part',
    'assembly/full-registry',
    'assembly/compile',
    'assembly/default-registry',
  ],
  // What hosts import, and those who write an adapter, an executor, a store or an observer.
  public: [
    'core',
    'extend/tool-view',
    'extend/running-call',
    'extend/definitions',
    'extend/registry-view',
    'extend/session-view',
    'extend',
    'index',
  ],
  // What imports the public list as a host does: each subpath, and the command line.
  surfaces: [
    'surfaces/workflow',
    'surfaces/shared',
    'surfaces/ai-sdk',
    'surfaces/amplifier',
    'surfaces/anthropic',
    'surfaces/gemini',
    'surfaces/langchain',
    'surfaces/openai',
    'executors/sandbox',
    'executors/bullmq',
    'surfaces/telemetry',
    'surfaces/mcp',
    'surfaces/relay',
    'surfaces/relay-client',
    'stores/redis',
    'stores/postgres',
    'stores/sqlite',
    'stores/open',
    'surfaces/policy-engines',
    'surfaces/audit',
    'surfaces/pages',
    'surfaces/approvals',
    'surfaces/offload',
    'surfaces/testing',
    'surfaces/policy',
    'surfaces/inspector',
    'surfaces/config',
    'surfaces/openapi',
    'surfaces/gateway',
    'surfaces/agents',
    'surfaces/claude-agent',
    'surfaces/acp',
    'cli',
  ],
};

/** What no file of the core may contain, also not in a comment. */
const nameOfPart = /quota/i;

/** What surfaces may import. Beside the values, those of others reach all of it by the exports. */
const openToSurfaces = [
  ...sections.values,
  ...sections.engines,
  ...sections.api,
  ...sections.storage,
  'core/alongside',
  'core/result',
  'core/serialize',
  'core/toolset',
  ...sections.public,
];

/** What surfaces import of the parts on which they work. */
const worksOn: Readonly<Record<string, readonly string[]>> = {
  cli: [
    'parts/durable-approvals/approvals-in',
    'parts/explain/explain',
    'parts/offload/outputs-of',
    'parts/quotas/quota-state',
    'parts/rule-review/review-of',
    'parts/secrets/masking-of',
  ],
  'executors/bullmq': ['parts/json-schema/part'],
  'surfaces/amplifier': ['parts/json-schema/part', 'parts/versions/part'],
  'surfaces/approvals': [
    'parts/durable-approvals/people',
    'parts/durable-approvals/settle-approval',
    'parts/durable-approvals/weigh-answer',
  ],
  'surfaces/config': [
    'parts/code/settings',
    'parts/credentials/file-tokens',
    'parts/offload/outputs-of',
    'parts/quotas/quota-state',
  ],
  'surfaces/gateway': ['parts/durable-approvals/durable-state', 'parts/secrets/masking-of'],
  'surfaces/inspector': [
    'parts/discovery/discovery',
    'parts/durable-approvals/durable-state',
    'parts/explain/explain',
    'parts/quotas/quota-state',
    'parts/rule-review/review-of',
    'parts/secrets/masking-of',
  ],
  'surfaces/policy': ['parts/explain/judge-recorded', 'parts/quotas/quota-state'],
  'surfaces/testing': ['parts/secrets/masking-of'],
};

/**
 * What the applications among the surfaces import of the core and its assembly. They show or try
 * what nothing else needs to know. This may only become less: no other surface has an entry.
 */
const deep: Readonly<Record<string, readonly string[]>> = {
  cli: [
    'assembly/compile',
    'core/registry/state-of',
    'core/rules/rule-use',
    'core/session/session',
    'core/tool/definition',
  ],
  'surfaces/agents': ['core/registry/state-of', 'core/rules/rule'],
  'surfaces/config': [
    'assembly/compile',
    'assembly/core-registry',
    'assembly/load-part',
    'core/registry/state-of',
    'core/rules/rules',
  ],
  'surfaces/inspector': [
    'core/rules/rules',
    'core/registry/judging-copy',
    'core/registry/state-of',
    'core/rules/rule-use',
    'core/session/view',
    'core/session/session',
    'core/session/session-options',
    'core/session/session-state',
  ],
  'surfaces/policy': [
    'core/registry/judging-copy',
    'core/registry/state-of',
    'core/rules/rule-use',
    'core/session/metrics',
    'core/session/session-options',
    'core/session/session-state',
  ],
  'surfaces/testing': ['core/session/session', 'core/tool/definition'],
};

/**
 * Folders whose own parts have an order, bottom first. A file belongs to the part that names it,
 * else to the part that names its folder.
 */
const parts: readonly (readonly (readonly string[])[])[] = [
  // What stages share; the stages; what puts them in order and ends a call early.
  [
    ['core/call/*'],
    ['core/call/stages/*'],
    [
      'core/call/call-child',
      'core/call/early-call',

      'core/call/recheck',
      'core/call/spine',
      'core/call/steps',
      'core/call/settle',
      'core/call/start',
      'core/call/interrupt',
    ],
  ],
];

/** Files of these folders do not import each other. */
const apart = ['core/call/stages'];

/**
 * The surfaces that a surface imports from, beside `surfaces/shared`. Adapters need none, and a new
 * one needs no entry. The command line may use all.
 */
const builtOn: Readonly<Record<string, readonly string[]>> = {
  'surfaces/shared': ['surfaces/workflow'],
  'executors/bullmq': ['executors/sandbox'],
  'surfaces/relay': ['surfaces/mcp', 'surfaces/telemetry'],
  'surfaces/relay-client': ['surfaces/relay'],
  'stores/open': ['stores/postgres', 'stores/redis', 'stores/sqlite'],
  'surfaces/inspector': ['surfaces/audit', 'surfaces/pages', 'surfaces/policy'],
  'surfaces/approvals': ['surfaces/pages'],
  'surfaces/testing': ['surfaces/workflow', 'surfaces/amplifier'],
  'surfaces/policy': ['surfaces/testing'],
  'surfaces/config': ['executors/sandbox'],
  'surfaces/openapi': ['surfaces/config'],
  'surfaces/gateway': [
    'surfaces/mcp',
    'surfaces/audit',
    'surfaces/approvals',
    'surfaces/config',
    'surfaces/openapi',
  ],
  'surfaces/agents': ['surfaces/audit'],
  'surfaces/acp': ['surfaces/mcp', 'surfaces/agents'],
  'surfaces/claude-agent': ['surfaces/anthropic', 'surfaces/mcp', 'surfaces/agents'],
};

/** Folders of one entry that do not import each other. */
const strangers = [
  ['surfaces/mcp/client', 'surfaces/mcp/server'],
  ['surfaces/policy-engines/cedar', 'surfaces/policy-engines/opa'],
  ['surfaces/telemetry/otel', 'surfaces/telemetry/prometheus'],
];

/**
 * Inside each of these, types may refer to each other in a circle; what runs may not. A call knows
 * its session by a port that counts calls, and a session its registry by one that holds sessions.
 * The context of a handler makes sessions, and these take handlers.
 */
const typesMayCircle = ['api', ...sections.core, ...sections.parts];

/**
 * Packages, each with the folders and files that may import it. A dependency that nobody imports is
 * none.
 */
const packages: Readonly<Record<string, readonly string[]>> = {
  eventemitter3: ['core/events'],
  // Off the hot path only: it makes an Error with a stack for every wait.
  'p-timeout': ['*'],
  re2js: ['values/text/regex'],
  stemmer: ['parts/discovery'],
  zod: ['values/schema', 'surfaces/config', 'cli'],
  'zod-to-json-schema': ['values/schema'],
  yaml: ['surfaces/config', 'cli'],
  '@agentclientprotocol/sdk': ['surfaces/acp'],
  '@anthropic-ai/claude-agent-sdk': ['surfaces/claude-agent'],
  '@cedar-policy/cedar-wasm': ['surfaces/policy-engines/cedar'],
  '@langchain/core': ['surfaces/langchain'],
  '@modelcontextprotocol/client': ['surfaces/mcp'],
  '@modelcontextprotocol/server': ['surfaces/mcp'],
  '@open-policy-agent/opa-wasm': ['surfaces/policy-engines/opa'],
  '@opentelemetry/api': ['surfaces/telemetry/otel'],
  // Loaded where Node has no `node:sqlite`.
  'better-sqlite3': ['stores/sqlite'],
  bullmq: ['executors/bullmq'],
  ioredis: ['stores/open'],
  jose: ['surfaces/mcp'],
  pg: ['stores/open'],
  // Loaded by its address, in a thread.
  run: ['parts/code'],
  ws: ['surfaces/relay'],
  unbash: ['surfaces/agents'],
};

/**
 * Packages that are built into pages, and what builds them. The published package has the finished
 * pages and needs none of these.
 */
const bundled: Readonly<Record<string, readonly string[]>> = {
  esbuild: [
    'surfaces/pages/build-page',
    'executors/sandbox/runner-text',
    'parts/code/manager-text',
  ],
  preact: ['surfaces/pages/browser'],
  uplot: ['surfaces/pages/browser'],
};

/** Built-in modules of Node, each with the folders and files that may import it. */
const builtins: Readonly<Record<string, readonly string[]>> = {
  'node:crypto': ['*'],
  // Conformance suites are data for any runner: their rules fail as assertions do.
  'node:assert/strict': ['surfaces/testing'],
  // Dependencies that are loaded at their first use, synchronously; files name modules as Node
  // would.
  'node:module': [
    'values/packages',
    'parts/code/manager',
    'values/schema',

    'surfaces/config',
    'cli',
    'surfaces/pages',
  ],
  'node:fs': [
    'stores/sqlite/database',
    'values/files',
    'surfaces/config',
    'surfaces/audit',
    'surfaces/agents',
    'cli/index',
    'cli/hook-lean',
    'cli/hook-code',
    'cli/hook-run',
    'cli/hook-watch',
    'cli/guard',
    'executors/sandbox',
  ],
  'node:vm': ['cli/hook-code'],
  'node:http': ['values/http', 'surfaces/relay', 'surfaces/acp/offered-tools', 'cli'],
  'node:net': [
    'surfaces/relay',
    'surfaces/acp/offered-tools',
    'executors/sandbox/runner',
    'cli/hook-answer',
    'cli/guard',
  ],
  'node:stream': ['executors/bullmq', 'surfaces/relay', 'cli', 'executors/sandbox'],
  'node:fs/promises': [
    'values/files',
    'stores/open',
    'surfaces/config',
    'surfaces/audit',
    'stores/files',
    'cli',
    'surfaces/pages',
    'surfaces/testing',
  ],
  'node:path': [
    'values/files',
    'stores/open',
    'stores/files/document-files',
    'surfaces/config',
    'surfaces/audit',
    'surfaces/approvals',
    'surfaces/offload',
    'surfaces/gateway',
    'surfaces/openapi/document',
    'cli',
    'surfaces/pages',
    'surfaces/agents',
    'surfaces/claude-agent',
    'surfaces/acp/agent-calls',
    'surfaces/acp/client-requests',
    'surfaces/acp/to-acp-client',
    'executors/sandbox',
    'surfaces/testing',
  ],
  'node:url': [
    'values/packages/own-folder',
    'values/packages/missing-package',
    'parts/code/manager-text',
    'surfaces/config',
    'surfaces/openapi/document',
    'cli',
    'surfaces/pages',
    'executors/sandbox',
    'surfaces/testing',
  ],
  'node:util': ['cli'],
  'node:dns/promises': ['cli/guard/reachable-address'],
  'node:readline': ['cli/guard'],
  'node:sqlite': ['stores/sqlite'],
  'node:readline/promises': ['cli'],
  // The process that runs foreign code, and the thread that can end it.
  'node:child_process': ['cli', 'executors/sandbox'],
  'node:worker_threads': ['cli', 'executors/sandbox', 'parts/code'],
  'node:async_hooks': ['parts/code/manager'],
  'node:events': ['parts/code/manager'],
  'node:os': [
    'values/files',
    'executors/bullmq',
    'surfaces/claude-agent',
    'surfaces/acp/to-acp-client',
    'cli',
    'executors/sandbox',
    'surfaces/testing',
  ],
};

/** What every file may import of `node:fs`, where the table above lets it: none of it writes. */
const readsFiles =
  /^(?:access|constants|createReadStream|existsSync|(?:[fl]?stat|readFile|readdir|readlink|realpath)(?:Sync)?|rm(?:dir)?(?:Sync)?|closeSync|readSync|(?:un)?watchFile|watch|Stats|FSWatcher)$/;

/**
 * Files that use the rest of `node:fs`, with the reason. Everything else writes by `files`, where
 * owners, permissions, links, locks and power failures are thought of once.
 */
const writesFiles: Readonly<Record<string, string>> = {
  'values/files': 'this is the place',
  'stores/sqlite/database': 'makes a file that SQLite opens then',
  'stores/files/document-files': 'makes one folder, in one that must exist',
  'surfaces/audit/writers': 'appends to a log',
  'surfaces/audit/open-log': 'cuts a torn line off a log',
  'surfaces/audit/log-files': 'moves the files of a log',
  'cli/read-text': '`open` for a stream',
  'cli/policy-backtest': '`open` for the first line',
  'cli/init/create-project': 'makes folders that it can remove again',
  'surfaces/testing/conformance/executor-world': 'a file for the length of a rule',
};

/** Who keeps private files, writes whole files or takes locks. */
const usersOfFiles = [
  'cli/audit-report',
  'cli/gateway/gateway-import',
  'cli/guard/guard-folder',
  'cli/guard/guard-layout',
  'cli/guard/hook-install',
  'cli/guard/mounts',
  'cli/hook-code',
  'cli/hook-run',
  'cli/init/create-project',
  'cli/mcp-pin-file',
  'stores/files/document-files',
  'stores/files/file-store',
  'surfaces/agents/state/file-quotas',
  'surfaces/agents/state/locked-file',
  'surfaces/agents/state/session-file',
  'surfaces/agents/state/state-folder',
  'surfaces/audit/create-audit-log',
  'surfaces/audit/writers',
  'surfaces/gateway/secret-files',
];

/** Entries of `surfaces` with one folder for each subpath. */
const families = ['policy-engines', 'telemetry'];

/** Folders whose `index.ts` is no subpath: most of what they hold is imported from there. */
const fronts = ['values/json', 'values/errors', 'values/options'];

/** Nine files of ten have at most this many lines. */
const usualLines = 250;

/** A file with more lines than this is split, or gives its reason here. */
const maxLines = 400;
const longFiles: Readonly<Record<string, string>> = {
  'api/store': 'one port, whose operations are read together',
};

/** Lines of `src` have at most this many characters. */
const maxColumns = 100;

/**
 * Files and folders with longer lines, with the reason. A line with a URL may be longer everywhere.
 */
const wideFiles: Readonly<Record<string, string>> = {
  'surfaces/agents/shell/programs': 'a regular expression',
};

/** Classes and interfaces have at most this many fields. Methods and accessors do not count. */
const maxFields = 25;

/** Those with more, with the reason. The types that hosts write and read are in `api`. */
const wideRecords: Readonly<Record<string, string>> = {
  'core/call/call Call': 'made for each call, so a second object would slow down every call',
  'surfaces/pages/approvals-wire WaitingApproval': 'JSON, which a page reads as it is sent',
};

/** Functions that are longer give the reason in a comment above them: {@link longReason}. */
const maxFunctionLines = 60;
const longReason = /longer than 60 lines[,:] /i;

/** Files that may hold a `let` at module level, with the reason. */
const moduleState: Readonly<Record<string, string>> = {
  'assembly/default-registry':
    'hostToolRegistry, the optional process-wide default, is made on first use',
  'core/registry/registry': 'the reader of a private field, set once by its class',
  'values/http/lazy-request':
    'the prototype of requests, made on first use, as `Request` makes the engine load all of fetch',
  'core/call/handler-context': 'the reader of a private field, set once by its class',
  'core/call/spine':
    'the resolve function between two statements; a closure for every call would cost a tenth ' +
    'of the call',
  'core/session/session': 'the reader of a private field, set once by its class',
  'executors/sandbox/reaper': 'one shell ends all sandboxes with the process',
  'parts/code/quick-js-runner': 'one thread manages the programs of the process',
  'surfaces/mcp/server/form-answers':
    'the compiler of schemas, which a server loads once it asks something',
};

/**
 * Exported values that no other file of `src` imports: what tests try on its own. Anything else
 * that only one file uses is local. An entry needs a test that has no other way.
 */
const forTests: Readonly<Record<string, readonly string[]>> = {
  'assembly/compile': ['tryRule'],
  'assembly/part-table': ['partTable'],
  'core/approval/grants': ['Grants'],
  'core/call/stages/decide': ['matchOf'],
  'core/registry/gathered-changes': ['createGathered'],
  'parts/discovery/found-tools': ['finderSlot'],
  'cli/init/starter': ['starterPackages'],
  'cli/validate/validate-checks': ['validateChecks'],
  'values/http/lazy-request': ['wholeRequest'],
  'parts/origins/call-origins': ['ofCall'],
  'parts/origins/identifiers': ['maxIdentifiers'],
  'values/packages/install-line': ['optionalPackages'],
  'values/json-schema/gate': ['untrustedLimits'],
  'surfaces/config/format': ['fileJsonSchema'],
  'surfaces/agents/shell/programs': ['fedTables'],
  'surfaces/agents/shell/hosts': ['hostRows'],
  'surfaces/agents/shell/looking-programs': ['lookingTables'],
  'surfaces/gateway/server-questions': ['createQuestions'],
  'surfaces/mcp/client/import': ['importThrough'],
  'surfaces/mcp/client/people': ['createPeople'],
  'surfaces/mcp/client/stdio-lines': ['lineReader'],
  'surfaces/relay-client/backoff': ['backoffMs'],
  'surfaces/relay/events/tool-updates': ['shownDefinition'],
  'core/rules/verdict': ['denialText'],
  'executors/sandbox/reaper': ['reaperScript'],
  'surfaces/testing/coordinator/coordinator-hooks': ['hookResultDefaults'],
  'values/schema/schema-places': ['takesNull'],
  'values/text/glob': ['compileGlob', 'globBudget'],
};

/**
 * What may become fewer and not more: casts that the compiler cannot check, and the names that only
 * our own surfaces may import. If one has become fewer, lower its number here.
 */
const atMost = { 'as unknown as': 63, 'as never': 32, 'names in extend.ts': 25 };

interface Import {
  /** As written. */
  readonly specifier: string;
  /**
   * The file of `src` that is meant, without its ending; absent for packages and built-in modules.
   */
  readonly file?: string;
  readonly typeOnly: boolean;
  /** The names that are imported; all of them for `import * as` and `import()`. */
  readonly names: readonly string[] | 'all';
  readonly at: string;
}

interface Source {
  /** The path below `src`, without its ending: `call/stages/run`. */
  readonly file: string;
  readonly text: string;
  /** The statements that are still there when the types are gone. */
  readonly code: readonly string[];
  readonly lines: number;
  /** Lines of more than {@link maxColumns} characters without a URL: `src/registry.ts:12`. */
  readonly wide: readonly string[];
  /** Functions of more than {@link maxFunctionLines} lines that give no reason. */
  readonly long: readonly string[];
  /** The classes and interfaces with more than {@link maxFields} fields of their own. */
  readonly records: readonly string[];
  readonly imports: readonly Import[];
  /** The values that it declares and exports. */
  readonly values: readonly string[];
  readonly casts: Readonly<Record<Cast, number>>;
  /** What the rules on statements have against it: `registry.ts:12: …`. */
  readonly faults: readonly { readonly rule: Rule; readonly at: string }[];
}

type Cast = 'as unknown as' | 'as never';

type Rule = 'default export' | 'export *' | 'console' | 'generated code' | 'module state';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = readSources();
const order = Object.values(sections).flat();
const known = new Set(sources.map(({ file }) => file));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { types: string; default: string }>;
  bin: Record<string, string>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
};

describe('direction', () => {
  test('the table names what lies directly in the folders of `src`, and nothing else', () => {
    expect([...order].sort()).toEqual(
      [...new Set(sources.map(({ file }) => entryOf(file)))].sort(),
    );
  });

  test('a file imports its own entry and those before it, types too', () => {
    const upwards = inside(
      ({ from, to }) =>
        order.indexOf(entryOf(to)) > order.indexOf(entryOf(from)) ||
        // Parts know the core, and not each other.
        (sections.parts.includes(entryOf(from)) &&
          sections.parts.includes(entryOf(to)) &&
          entryOf(from) !== entryOf(to)),
    );
    expect(
      upwards.map(
        ({ at, from, to }) =>
          `${at}: ${entryOf(from)} comes before ${entryOf(to)} in \`sections\`, and imports ${to}.`,
      ),
    ).toEqual([]);
  });

  test('the core knows no part, also not by types or by name', () => {
    const wrong = inside(
      ({ from, to }) => sections.core.includes(entryOf(from)) && to.startsWith('parts/'),
    );
    expect(wrong.map(({ at, to }) => `${at}: imports ${to}.`)).toEqual([]);
    const naming = sources.filter(
      ({ file, text }) => file.startsWith('core/') && nameOfPart.test(text),
    );
    expect(naming.map(({ file }) => file)).toEqual([]);
  });

  test('the types that hosts write and read are types only', () => {
    const typesOnly = sources.filter(({ file }) => entryOf(file) === 'api');
    expect(typesOnly.flatMap(({ code }) => code)).toEqual([]);
  });

  test('folders of one entry form no circle either', () => {
    const arrows = inside(
      ({ from, to }) => entryOf(from) === entryOf(to) && folderOf(from) !== folderOf(to),
    ).map(({ from, to }) => [folderOf(from), folderOf(to)] as const);
    // The files beside the folders of an entry may use them and be used by them.
    const among = arrows.filter((folders) => folders.every((one) => one !== entryOf(one)));
    expect(
      cycles(
        new Map(
          among.map(([from]) => [
            from,
            new Set(among.filter(([other]) => other === from).map(([, to]) => to)),
          ]),
        ),
      ),
    ).toEqual([]);
  });

  test('no file imports itself by way of others; of types only where the table says so', () => {
    const counts = (from: string, { file, typeOnly }: Import): boolean =>
      file !== undefined &&
      !(typeOnly && [from, file].every((one) => typesMayCircle.includes(entryOf(one))));
    const targets = sources.map(
      ({ file, imports }) =>
        [
          file,
          new Set(
            imports.filter((found) => counts(file, found)).flatMap((found) => found.file ?? []),
          ),
        ] as const,
    );
    expect(cycles(new Map(targets))).toEqual([]);
  });

  test('the parts of a folder are in order', () => {
    for (const ranks of parts) {
      const rankOf = (file: string): number => {
        const exact = ranks.findIndex((files) => files.includes(file));
        return exact !== -1
          ? exact
          : ranks.findIndex((files) => files.includes(`${folderOf(file)}/*`));
      };
      const wrong = inside(({ from, to }) => rankOf(from) !== -1 && rankOf(to) > rankOf(from));
      expect(
        wrong.map(({ at, to }) => `${at}: imports ${to}, which comes later in \`parts\`.`),
      ).toEqual([]);
    }
  });

  test('stages do not import each other', () => {
    const wrong = inside(
      ({ from, to }) => folderOf(from) === folderOf(to) && apart.includes(folderOf(from)),
    );
    expect(
      wrong.map(
        ({ at, to }) => `${at}: imports ${to}; what both need belongs into the state of the call.`,
      ),
    ).toEqual([]);
  });

  test('a surface imports from another only where the table says so', () => {
    const pairs = inside(
      ({ from, to }) =>
        entryOf(from) !== 'cli' &&
        isSurface(from) &&
        isSurface(to) &&
        entryOf(from) !== entryOf(to) &&
        entryOf(to) !== 'surfaces/shared',
    ).map(({ from, to }) => `${entryOf(from)} -> ${entryOf(to)}`);
    const listed = Object.entries(builtOn).flatMap(([from, all]) =>
      all.map((to) => `${from} -> ${to}`),
    );
    expect([...new Set(pairs)].sort()).toEqual(listed.sort());
  });

  test('folders that are alternatives do not import each other', () => {
    const wrong = inside(
      ({ from, to }) =>
        folderOf(from) !== folderOf(to) &&
        strangers.some(
          (folders) => folders.includes(folderOf(from)) && folders.includes(folderOf(to)),
        ),
    );
    expect(wrong.map(({ at, to }) => `${at}: imports ${to}.`)).toEqual([]);
  });

  test('surfaces see the core as others do, by `host-tools/extend`, but for what the tables list', () => {
    // The entry of a surface also exports the part of its subpath.
    const isPart = (from: string, to: string) =>
      from.endsWith('/index') && /^parts\/[^/]+\/part$/.test(to);
    const wrong = inside(
      ({ from, to }) =>
        isSurface(from) &&
        !isSurface(to) &&
        !openToSurfaces.includes(entryOf(to)) &&
        !isPart(from, to),
    );
    const listed = (from: string): readonly string[] => [
      ...(worksOn[entryOf(from)] ?? []),
      ...(deep[entryOf(from)] ?? []),
    ];
    expect(
      wrong
        .filter(({ from, to }) => !listed(from).includes(to))
        .map(({ at, to }) => `${at}: import it from core.ts or extend.ts, not from ${to}.ts.`),
    ).toEqual([]);
    const used = new Set(wrong.map(({ from, to }) => `${entryOf(from)}: ${to}`));
    const entries = [...Object.entries(worksOn), ...Object.entries(deep)];
    expect(
      entries
        .flatMap(([from, all]) => all.map((to) => `${from}: ${to}`))
        .filter((one) => !used.has(one)),
    ).toEqual([]);
    expect(
      Object.values(worksOn)
        .flat()
        .filter((to) => !to.startsWith('parts/')),
    ).toEqual([]);
  });

  test('the public list is for hosts and surfaces: the core imports the file itself', () => {
    const wrong = inside(
      ({ from, to }) =>
        sections.public.includes(to) && !isSurface(from) && !sections.public.includes(from),
    );
    expect(wrong.map(({ at, to }) => `${at}: imports ${to}.ts.`)).toEqual([]);
  });
});

describe('imports', () => {
  test('each import inside src names an existing file with its ending', () => {
    const wrong = sources
      .flatMap(({ imports }) => imports)
      .filter(
        ({ specifier, file }) =>
          file !== undefined && !(/\.tsx?$/.test(specifier) && known.has(file)),
      );
    expect(wrong.map(({ at, specifier }) => `${at}: ${specifier}`)).toEqual([]);
  });

  test('packages and built-in modules are imported only where the tables allow it', () => {
    const wrong = outside().filter(
      ({ from, name, builtin }) =>
        !allows(builtin ? builtins[name] : (packages[name] ?? bundled[name]), from),
    );
    expect(
      wrong.map(
        ({ at, specifier, builtin }) =>
          `${at}: ${specifier} is not allowed here; see ` +
          `\`${builtin ? 'builtins' : 'packages'}\` in test/architecture.test.ts.`,
      ),
    ).toEqual([]);
  });

  test('files are written by `files`, except where the table says why', () => {
    const writing = sources.flatMap(({ file, imports }) =>
      imports
        .filter(({ specifier }) => /^(?:node:)?fs(?:\/promises)?$/.test(specifier))
        .flatMap(({ names, at }) =>
          (names === 'all' ? ['*'] : names)
            .filter((name) => !readsFiles.test(name))
            .map((name) => ({ file, name, at })),
        ),
    );
    const places = Object.keys(writesFiles);
    expect(
      writing
        .filter(({ file }) => !allows(places, file))
        .map(({ at, name }) => `${at}: \`${name}\`; write by src/values/files, or say why not.`),
    ).toEqual([]);
    expect(places.filter((place) => !writing.some(({ file }) => allows([place], file)))).toEqual(
      [],
    );
  });

  test('the table names who keeps private files and writes whole ones', () => {
    const tools = ['private-file', 'private-folder', 'whole-file', 'lock-file'];
    const users = inside(({ to }) => tools.some((name) => to === `values/files/${name}`));
    expect([
      ...new Set(users.map(({ from }) => from).filter((from) => entryOf(from) !== 'values/files')),
    ]).toEqual(usersOfFiles);
  });

  test('the tables allow nothing that is not used', () => {
    const used = outside();
    const unused = Object.entries({ ...packages, ...bundled, ...builtins }).flatMap(
      ([name, places]) =>
        places
          .filter((place) => !used.some((one) => one.name === name && allows([place], one.from)))
          .map((place) => `${name} in ${place}`),
    );
    expect(unused).toEqual([]);
    const states = sources.flatMap(({ file, faults }) =>
      faults.some(({ rule }) => rule === 'module state') ? [file] : [],
    );
    expect(states.sort()).toEqual(Object.keys(moduleState).sort());
  });

  test('the dependencies of package.json are the packages that are imported', () => {
    const used = new Set(
      outside().flatMap(({ name, builtin }) => (builtin || name in bundled ? [] : [name])),
    );
    const declared = [
      ...Object.keys(manifest.dependencies),
      ...Object.keys(manifest.peerDependencies),
    ].sort();
    expect([...used].sort()).toEqual(declared);
    expect(Object.keys(packages).sort()).toEqual(declared);
  });

  test('what only a subpath needs is an optional peer', () => {
    expect(Object.entries(manifest.peerDependenciesMeta)).toEqual(
      Object.keys(manifest.peerDependencies).map((name) => [name, { optional: true }]),
    );
  });
});

describe('entries', () => {
  const subpaths = Object.entries(manifest.exports).filter(
    ([subpath]) => !subpath.endsWith('.json'),
  );
  const entries = tsupConfig.entry as Record<string, string>;

  test('the exports map with the command, and the build, have the same entries', () => {
    expect(manifest.bin).toEqual({ 'host-tools': 'dist/cli.js' });
    expect(
      [
        ...subpaths.map(([subpath]) => (subpath === '.' ? 'index' : subpath.slice(2))),
        'cli',
        ...Object.keys(partFiles),
      ].sort(),
    ).toEqual(Object.keys(entries).sort());
  });

  test.each(subpaths)('%s gives its types first, then its one ESM file', (subpath, target) => {
    const name = subpath === '.' ? 'index' : subpath.slice(2);
    expect(Object.entries(target)).toEqual([
      ['types', `./dist/${name}.d.ts`],
      ['default', `./dist/${name}.js`],
    ]);
    const places =
      name === 'index'
        ? ['']
        : ['surfaces/', 'executors/', 'stores/', ...families.map((one) => `surfaces/${one}/`)].map(
            (folder) => `${folder}${name.replace('/', '-')}/`,
          );
    expect([
      `src/${name}.ts`,
      `src/parts/${name}/part.ts`,
      ...places.map((place) => `src/${place}index.ts`),
    ]).toContain(entries[name]);
    expect(known.has((entries[name] as string).slice(4, -3)), `${entries[name]} exists`).toBe(true);
  });
});

describe('style that a reader relies on', () => {
  test.each<[Rule, Readonly<Record<string, string>>]>([
    ['default export', {}],
    ['export *', { index: 'all that the entry without parts has' }],
    ['console', {}],
    ['generated code', {}],
    ['module state', moduleState],
  ])('no %s', (rule, allowed) => {
    const wrong = sources
      .filter(({ file }) => !(file in allowed))
      .flatMap(({ faults }) => faults.filter((fault) => fault.rule === rule));
    expect(wrong.map(({ at }) => at)).toEqual([]);
  });

  test('an exported value is imported by another file, or the table says that tests need it', () => {
    const entries = Object.values(tsupConfig.entry as Record<string, string>);
    const taken = new Set(
      sources.flatMap(({ imports }) =>
        imports.flatMap(({ file, names }) =>
          names === 'all' ? [`${file} *`] : names.map((name) => `${file} ${name}`),
        ),
      ),
    );
    const unused = sources.flatMap(({ file, values }) =>
      entries.some((entry) => entry.startsWith(`src/${file}.ts`)) || taken.has(`${file} *`)
        ? []
        : values.filter((name) => !taken.has(`${file} ${name}`)).map((name) => `${file} ${name}`),
    );
    const listed = Object.entries(forTests).flatMap(([file, names]) =>
      names.map((name) => `${file} ${name}`),
    );
    expect(unused.sort()).toEqual(listed.sort());
  });

  test('unchecked casts and private names for surfaces only become fewer', () => {
    const countOf = (cast: Cast): number =>
      sources.reduce((sum, { casts }) => sum + casts[cast], 0);
    const port = sources.find(({ file }) => file === 'extend');
    const now = {
      'as unknown as': countOf('as unknown as'),
      'as never': countOf('as never'),
      'names in extend.ts': port?.imports.flatMap(({ names }) => names).length ?? 0,
    };
    for (const [what, count] of Object.entries(now)) {
      const most = atMost[what as keyof typeof now];
      expect(count, `${what}: at most ${most}`).toBeLessThanOrEqual(most);
      // Some room, so that two changes at the same time do not meet in this table.
      expect(count, `${what}: lower \`atMost\` to ${count}`).toBeGreaterThan(most - 5);
    }
  });

  test('nine files of ten are short, and one that is very long gives the reason', () => {
    const lines = sources.map((source) => source.lines).sort((one, other) => one - other);
    expect(lines[Math.floor(lines.length * 0.9)]).toBeLessThanOrEqual(usualLines);
    const long = sources.flatMap(({ file, lines }) => (lines > maxLines ? [file] : []));
    expect(long.sort()).toEqual(Object.keys(longFiles).sort());
  });

  test(`no line is longer than ${maxColumns} characters without a reason`, () => {
    const wide = sources.filter((source) => source.wide.length > 0);
    const covers = (place: string, file: string): boolean =>
      file === place || file.startsWith(`${place}/`);
    const places = Object.keys(wideFiles);
    expect(
      wide
        .filter(({ file }) => !places.some((place) => covers(place, file)))
        .flatMap((source) => source.wide),
    ).toEqual([]);
    expect(places.filter((place) => !wide.some(({ file }) => covers(place, file)))).toEqual([]);
  });

  test(`a function of more than ${maxFunctionLines} lines says why`, () => {
    expect(sources.flatMap(({ long }) => long)).toEqual([]);
  });

  test(`a record has at most ${maxFields} fields, or the table says why it has more`, () => {
    expect(
      sources
        .filter(({ file }) => !file.startsWith('api/'))
        .flatMap(({ file, records }) => records.map((name) => `${file} ${name}`))
        .sort(),
    ).toEqual(Object.keys(wideRecords).sort());
  });

  test('a file is named after what it holds', () => {
    const vague = /(^|[/-])(utils?|helpers?|common|misc|types|shared|constants)$/;
    expect(
      sources
        .map(({ file }) => file)
        .filter((file) => vague.test(file) || !/^[a-z0-9/-]+$/.test(file)),
    ).toEqual([]);
    const named = new Set(Object.values(tsupConfig.entry as Record<string, string>));
    const indexes = sources
      .map(({ file }) => `src/${file}.ts`)
      .filter((file) => file.endsWith('/index.ts'));
    expect(
      indexes
        .filter((file) => !named.has(file) && !fronts.some((f) => file === `src/${f}/index.ts`))
        .map((file) => `${file} is no entry of the package: name it after what it holds.`),
    ).toEqual([]);
  });
});

/** The command line or the types; of other folders of `src`, what lies directly in it. */
function entryOf(file: string): string {
  return file
    .split('/')
    .slice(0, /^(?:api|cli)\//.test(file) ? 1 : 2)
    .join('/');
}

/** The folder that a file lies in; the entry itself for one that lies directly in `src`. */
function folderOf(file: string): string {
  return file.includes('/') ? posix.dirname(file) : file;
}

function isSurface(file: string): boolean {
  return sections.surfaces.includes(entryOf(file));
}

function allows(files: readonly string[] | undefined, file: string): boolean {
  return (
    files?.some(
      (allowed) =>
        allowed === '*' ||
        allowed === file ||
        allowed === entryOf(file) ||
        file.startsWith(`${allowed}/`),
    ) === true
  );
}

/** The imports from one file of `src` to another that `wrong` picks. */
function inside(
  wrong: (edge: { from: string; to: string }) => boolean,
): { at: string; from: string; to: string; typeOnly: boolean }[] {
  return sources.flatMap(({ file: from, imports }) =>
    imports.flatMap(({ file: to, at, typeOnly }) =>
      to !== undefined && wrong({ from, to }) ? [{ at, from, to, typeOnly }] : [],
    ),
  );
}

/** The imports of what is not ours. */
function outside(): {
  at: string;
  from: string;
  specifier: string;
  name: string;
  builtin: boolean;
}[] {
  return sources.flatMap(({ file: from, imports }) =>
    imports.flatMap(({ file, specifier, at }) => {
      if (file !== undefined) return [];
      const builtin = specifier.startsWith('node:');
      const name = builtin
        ? specifier
        : specifier
            .split('/')
            .slice(0, specifier.startsWith('@') ? 2 : 1)
            .join('/');
      return [{ at, from, specifier, name, builtin }];
    }),
  );
}

/** Each cycle that a depth-first walk meets, written out. */
function cycles(targets: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start !== -1) found.push([...path.slice(start), file].join(' -> '));
    if (start !== -1 || done.has(file)) return;
    for (const target of targets.get(file) ?? []) walk(target, [...path, file]);
    done.add(file);
  };
  for (const file of targets.keys()) walk(file, []);
  return found;
}

function readSources(): Source[] {
  const folder = join(root, 'src');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
    .map((path) => readSource(path, readFileSync(join(folder, path), 'utf8')));
}

function readSource(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const imports: Import[] = [];
  const faults: { rule: Rule; at: string }[] = [];
  const long: string[] = [];
  const records: string[] = [];
  const place = (node: ts.Node): string =>
    `src/${path}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`;
  const fault = (rule: Rule, node: ts.Node): void => {
    faults.push({ rule, at: `${place(node)}: ${node.getText(tree).split('\n', 1)[0]}` });
  };
  const values: string[] = [];
  const casts = { 'as unknown as': 0, 'as never': 0 };
  const take = (
    specifier: ts.Node | undefined,
    typeOnly = false,
    names: Import['names'] = 'all',
  ): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const ours = specifier.text.startsWith('.');
    const file = posix
      .join(dirname(path).split(sep).join('/'), specifier.text)
      .replace(/\.[jt]sx?$/, '');
    imports.push({
      specifier: specifier.text,
      typeOnly,
      names,
      at: place(specifier),
      ...(ours ? { file } : {}),
    });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node))
      take(
        node.moduleSpecifier,
        node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword,
        namesIn(node.importClause?.namedBindings),
      );
    else if (ts.isExportDeclaration(node)) {
      take(node.moduleSpecifier, node.isTypeOnly, namesIn(node.exportClause));
      if (node.exportClause === undefined || ts.isNamespaceExport(node.exportClause))
        fault('export *', node);
    } else if (ts.isImportTypeNode(node))
      take(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true);
    else if (ts.isExportAssignment(node) || node.kind === ts.SyntaxKind.DefaultKeyword)
      fault('default export', node.parent.kind === ts.SyntaxKind.SourceFile ? node : node.parent);
    else if (ts.isCallExpression(node)) {
      // `import(x)`, `require(x)`, `createRequire(y)(x)`: whatever is called so, its argument is a
      // module.
      const { expression } = node;
      if (
        expression.kind === ts.SyntaxKind.ImportKeyword ||
        /^(require|createRequire\()/.test(expression.getText(tree))
      )
        take(node.arguments[0]);
      if (ts.isIdentifier(expression) && /^(eval|Function)$/.test(expression.text))
        fault('generated code', node);
    } else if (
      ts.isNewExpression(node) &&
      ts.isIdentifier(node.expression) &&
      node.expression.text === 'Function'
    )
      fault('generated code', node);
    else if (
      ts.isPropertyAccessExpression(node) &&
      ts.isIdentifier(node.expression) &&
      node.expression.text === 'console'
    )
      fault('console', node);
    else if (
      ts.isVariableStatement(node) &&
      node.parent === tree &&
      (node.declarationList.flags & ts.NodeFlags.Const) === 0
    )
      fault('module state', node);
    if (ts.isAsExpression(node) && node.type.kind === ts.SyntaxKind.NeverKeyword)
      casts['as never']++;
    else if (
      ts.isAsExpression(node) &&
      ts.isAsExpression(node.expression) &&
      node.expression.type.kind === ts.SyntaxKind.UnknownKeyword
    )
      casts['as unknown as']++;
    if (node.parent === tree) values.push(...exportedValues(node));
    if (fieldsOf(node) > maxFields) records.push((node as ts.ClassDeclaration).name?.text ?? '');
    if (isLong(node, tree) && !longReason.test(commentsAbove(node, tree)))
      long.push(`${place(node)}: split the function, or say why it is "Longer than 60 lines, …".`);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  const lines = text.split('\n');
  const wide = lines.flatMap((line, index) =>
    line.length > maxColumns && !/https?:\/\//.test(line) ? [`src/${path}:${index + 1}`] : [],
  );
  const code = tree.statements.filter((node) => !isType(node)).map(place);
  return {
    file: path.replace(/\.tsx?$/, ''),
    text,
    code,
    lines: lines.length - 1,
    wide,
    long,
    records,
    imports,
    values,
    casts,
    faults,
  };
}

/** How many fields a class or an interface has itself. */
function fieldsOf(node: ts.Node): number {
  if (!ts.isClassLike(node) && !ts.isInterfaceDeclaration(node)) return 0;
  const members: readonly ts.Node[] = node.members;
  return members.filter((one) => ts.isPropertyDeclaration(one) || ts.isPropertySignature(one))
    .length;
}

/** Whether a statement is gone when the types are. */
function isType(node: ts.Statement): boolean {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    (ts.isExportDeclaration(node) && node.isTypeOnly) ||
    (ts.isImportDeclaration(node) &&
      node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) ||
    // A namespace that is only declared groups types.
    ((ts.isVariableStatement(node) || ts.isModuleDeclaration(node)) &&
      node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) === true)
  );
}

/** The names in braces of an import or an export. */
function namesIn(
  names: ts.NamedImportBindings | ts.NamedExportBindings | undefined,
): Import['names'] {
  return names !== undefined && (ts.isNamedImports(names) || ts.isNamedExports(names))
    ? names.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
    : 'all';
}

function exportedValues(node: ts.Node): string[] {
  if (
    !ts.canHaveModifiers(node) ||
    !ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  )
    return [];
  if (ts.isVariableStatement(node))
    return node.declarationList.declarations.map(({ name }) => name.getText());
  const isValue = ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node);
  return isValue && node.name !== undefined ? [node.name.text] : [];
}

function isLong(node: ts.Node, tree: ts.SourceFile): boolean {
  if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return false;
  const lineOf = (position: number): number => tree.getLineAndCharacterOfPosition(position).line;
  return lineOf(node.end) - lineOf(node.getStart(tree)) + 1 > maxFunctionLines;
}

/** The comments above a function, or above the statement or the member that it belongs to. */
function commentsAbove(node: ts.Node, tree: ts.SourceFile): string {
  let comments = '';
  for (let at = node; at !== tree && (at === node || !ts.isFunctionLike(at)); at = at.parent)
    comments += tree.text.slice(at.getFullStart(), at.getStart(tree));
  return comments.replace(/\s*\n\s*(\*|\/\/)?\s*/g, ' ');
}
