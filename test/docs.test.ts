/**
 * The texts are part of the product: snippets compile and run, links lead somewhere, what is
 * generated is up to date, and no option is left out.
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv } from 'ajv';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as core from '../src/index.ts';
import tsupConfig from '../tsup.config.ts';
import { ownRow } from './commands/own-rows.ts';
import { printedCommands } from './commands/printed-commands.ts';
import { table } from './commands/table.ts';
import { benchmarksPicture } from './docs/benchmarks-picture.ts';
import { errorsPage, reasons } from './docs/errors-page.ts';
import {
  entries as exampleEntries,
  exampleGlobals,
  exampleSnippets,
  exportsOf,
} from './docs/exports.ts';
import {
  fencesOf,
  guidePages,
  headingsOf,
  linkedPages,
  linkFault,
  linksOf,
  root,
  snippetsOf,
  targetOf,
} from './docs/pages.ts';
import { createWorkbench, type Workbench } from './docs/workbench.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string;
  exports: Record<string, unknown>;
  scripts: Record<string, string>;
};
const entries = tsupConfig.entry as Readonly<Record<string, string>>;
const subpaths = new Map(
  Object.keys(manifest.exports)
    .filter((subpath) => !subpath.endsWith('.json'))
    .map((subpath) => [
      manifest.name + subpath.slice(1),
      entries[subpath === '.' ? 'index' : subpath.slice(2)] as string,
    ]),
);
const pages = guidePages();
/** The first page of the site; not in the package. */
const siteHome = 'docs/index.md';
const changelog = linkedPages().find(({ path }) => path === 'CHANGELOG.md')!;
const readme = pages.find(({ path }) => path === 'README.md')!.text;
const snippets = pages.flatMap(snippetsOf);
const examples = [...exampleSnippets(), exampleGlobals];
/** The core's files; what surfaces say of themselves is no part of it. */
const sources = ts.sys
  .readDirectory(join(root, 'src'), ['.ts'], ['surfaces/testing', 'surfaces/amplifier'])
  .map((path) => readFileSync(path, 'utf8'));
const numbered = snippets.map(
  (snippet, index) => [`${snippet.page}:${snippet.line}`, index] as const,
);

// `npm run test:quick` names the folders with changes.
const { HOST_TOOLS_TEST_QUICK: changed = 'docs' } = process.env;

describe.runIf(changed.split(',').includes('docs'))('snippets', () => {
  let workbench: Workbench;
  let running: Promise<readonly (string | undefined)[]>;
  beforeAll(async () => {
    workbench = createWorkbench(snippets, subpaths, examples);
    await workbench.compile();
    // In a process of its own, so it goes on while this one compiles.
    running = workbench.run();
    running.catch(() => {});
  });
  afterAll(async () => {
    await running?.catch(() => {});
    workbench.remove();
  });

  describe('compile against the sources', () => {
    let faults: readonly (readonly string[])[];
    // It checks types for half a minute of a core.
    beforeAll(() => {
      faults = workbench.check();
    }, 900_000);
    test.each(numbered)('%s', (_, index) => {
      expect(faults[index]).toEqual([]);
    });
    test('the examples in the comments of what is exported', () => {
      expect(faults.slice(snippets.length).flat()).toEqual([]);
    });
  });

  describe('run without throwing', () => {
    let faults: readonly (string | undefined)[];
    beforeAll(async () => {
      faults = await running;
    });
    test.each(numbered)('%s', (_, index) => {
      expect(faults[index]).toBeUndefined();
    });
  });
});

// What a handler throws may name files, hosts and tables (`docs/security-model.md`).
test('a page whose results reach a browser says so, and masks what handlers throw', () => {
  const browser =
    /toUIMessageStream|createApprovalsHandler\(|Response\.json\(await session|\.json\(result\)/;
  const shown = pages.filter(
    ({ path, text }) =>
      !path.startsWith('docs/decisions/') &&
      // It shows how a call ended, in one word.
      path !== 'docs/slack-approvals.md' &&
      fencesOf(text).some(({ info, code }) => info.startsWith('ts') && browser.test(code)),
  );
  expect(shown.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['docs/recipes.md', 'docs/ai-sdk.md', 'docs/approvals-inbox.md']),
  );
  expect(shown.filter(({ text }) => !text.includes("exposeErrors: 'masked'"))).toEqual([]);
});

describe('what is not run', () => {
  const all = pages.flatMap(({ path, text }) =>
    fencesOf(text).map((fence) => ({ ...fence, place: `${path}:${fence.line}` })),
  );
  const fences = (...languages: string[]): [place: string, code: string][] =>
    all.filter(({ info }) => languages.includes(info)).map(({ place, code }) => [place, code]);
  const isFileOfTools = new Ajv({ strict: false }).compile(
    JSON.parse(readFileSync(join(root, 'host-tools.schema.json'), 'utf8')) as object,
  );

  test.each(fences('js', 'tsx'))('%s has no syntax error', (_, code) => {
    const { diagnostics = [] } = ts.transpileModule(code, {
      fileName: 'snippet.tsx',
      reportDiagnostics: true,
      compilerOptions: { jsx: ts.JsxEmit.Preserve, module: ts.ModuleKind.ESNext },
    });
    expect(diagnostics.map(({ messageText }) => messageText)).toEqual([]);
  });

  test.each(fences('json', 'yaml'))(
    '%s can be read, and is valid as a file of tools',
    (_, code) => {
      const data = parse(code) as Readonly<Record<string, unknown>>;
      const isFile =
        Array.isArray(data.tools) ||
        ['profiles', 'rules', 'quotas'].some((section) => Object.hasOwn(data, section));
      if (isFile) expect([isFileOfTools(data), isFileOfTools.errors]).toEqual([true, null]);
    },
  );

  test('every language is one that these tests know', () => {
    const known = [
      'ts',
      'ts continued',
      'js',
      'tsx',
      'json',
      'yaml',
      'sh',
      'sql',
      'text',
      'nginx',
      'dockerfile',
    ];
    expect(all.filter(({ info }) => !known.includes(info)).map(({ place }) => place)).toEqual([]);
  });
});

describe('command lines', () => {
  const printed = [...printedCommands()];

  // `npm run test:package` runs them.
  test('each is in the table of test/commands/table.ts, which has no other', () => {
    const inPages = printed.flatMap(([page, groups]) =>
      [...new Set(groups.flat().map(({ text }) => text))]
        .filter((text) => !ownRow(text) || Object.hasOwn(table[page]?.commands ?? {}, text))
        .map((text) => `${page}: ${text}`),
    );
    const inTable = Object.entries(table).flatMap(([page, { commands }]) =>
      Object.keys(commands).map((text) => `${page}: ${text}`),
    );
    expect(inPages.sort()).toEqual(inTable.sort());
  });

  test('those of the repository name scripts that it has', () => {
    const named = printed
      .flatMap(([, groups]) => groups.flat())
      .flatMap(({ text }) => [...text.matchAll(/^npm run ([\w:]+)|&& npm run ([\w:]+)/g)])
      .map((match) => match[1] ?? match[2]);
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((script) => !Object.hasOwn(manifest.scripts, script ?? ''))).toEqual([]);
  });
});

describe('README.md', () => {
  test('the first governed tool takes less than thirty lines', () => {
    const first = fencesOf(readme).find(({ info }) => info === 'ts');
    expect(first?.code.split('\n').length).toBeLessThan(30);
  });

  test('is read in five minutes', () => {
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(1_400);
  });

  test('names the dependencies of the package', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const [, part = ''] = readme.split('\n## Size and dependencies\n');
    const named = [...(part.split('\n## ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(
      (match) => match[1],
    );
    expect(named).toEqual(Object.keys(dependencies).sort());
  });

  test('leads to the front page of the docs', () => {
    expect(linksOf({ path: 'README.md', text: readme }).map(({ target }) => target)).toContain(
      'docs/README.md',
    );
  });
});

describe('docs/imports.md', () => {
  test('names the subpaths that the package has, and no others', () => {
    const text = pages.find(({ path }) => path === 'docs/imports.md')!.text;
    const named = [...text.matchAll(/^\| `(host-tools[^`]*)` \|/gm)].map((match) => match[1]);
    expect(named).toEqual([...subpaths.keys()]);
  });
});

describe('docs/README.md', () => {
  const front = pages.find(({ path }) => path === 'docs/README.md')!;

  test('leads to every page of docs', () => {
    const reached = new Set(linksOf(front).map(({ target }) => `docs/${target.split('#')[0]}`));
    reached.add(front.path);
    const apart = pages
      .map(({ path }) => path)
      .filter(
        (path) =>
          path.startsWith('docs/') &&
          path !== siteHome &&
          !path.startsWith('docs/decisions/') &&
          !reached.has(path),
      );
    expect(apart).toEqual([]);
  });
});

test.each(
  pages
    .filter(({ path }) => /^docs\/[\w-]+\.md$/.test(path) && path !== siteHome)
    .map((page) => [page.path, page] as const),
)('%s begins with what it is for, in a short sentence', (_, { text }) => {
  const [, title = '', first = ''] = /^(# .+)\n\n(?:<!--.*-->\n\n)?([\s\S]*?)\n\n/.exec(text) ?? [];
  expect(title).not.toBe('');
  // No code, table, list, picture or heading.
  expect(first).toMatch(/^[`[]?\w/);
  const [sentence = ''] = first.replaceAll(/\]\([^)]*\)/g, ']').split(/[.:]\s/);
  expect(sentence.split(/\s+/).length).toBeLessThanOrEqual(30);
});

describe('links', () => {
  test.each(linkedPages().map((page) => [page.path, page] as const))(
    '%s: every link leads to a file and a heading that exist',
    (_, page) => {
      const faults = linksOf(page).flatMap((link) => linkFault(link) ?? []);
      expect(faults).toEqual([]);
    },
  );
});

describe('the package', () => {
  test('has every file that its texts link to', () => {
    const packed =
      /^(?:README|CHANGELOG|SECURITY)\.md$|^LICENSE$|^docs\/(?!index\.md$|api\/|decisions\/|public\/|\.vitepress\/)/;
    const itsPages = pages.filter(
      ({ path }) => path !== siteHome && !path.startsWith('docs/decisions/'),
    );
    const apart = [...itsPages, changelog].flatMap((page) =>
      linksOf(page)
        .filter((link) => !packed.test(targetOf(link) ?? page.path))
        .map(({ page, line, target }) => `${page}:${line} ${target}`),
    );
    expect(apart).toEqual([]);
  });
});

describe('the site', () => {
  test('can read what its home page says', () => {
    const home = pages.find(({ path }) => path === siteHome)!.text;
    const [, front = ''] = /^---\n([\s\S]*?)\n---\n/.exec(home) ?? [];
    const { hero, features } = parse(front) as {
      hero: { actions: object[] };
      features: { title: string; details: string; link: string; linkText: string }[];
    };
    expect(hero.actions.length).toBeGreaterThan(0);
    expect(features.length).toBeGreaterThan(3);
    const linked = features.map(({ title, details, link, linkText }) => {
      expect([title, details, linkText].every(Boolean)).toBe(true);
      const [page, anchor] = link.split('#');
      return { page: siteHome, line: 1, target: `.${page}.md${anchor ? `#${anchor}` : ''}` };
    });
    expect(linked.flatMap((link) => linkFault(link) ?? [])).toEqual([]);
  });

  test('shows the first example of README.md on its home page', () => {
    const home = pages.find(({ path }) => path === siteHome)!.text;
    expect(home).toContain('<!--@include: ../README.md#first-tool-->');
    const [, example = ''] = readme.split(/<!-- #(?:end)?region first-tool -->/);
    expect(fencesOf(example).map(({ info }) => info)).toEqual(['ts']);
  });
});

describe('docs/errors.md', () => {
  // `npx vitest run test/docs.test.ts -u` writes the page anew.
  test('is what the table of codes says', async () => {
    await expect(errorsPage()).toMatchFileSnapshot('../docs/errors.md');
  });

  test('lists every reason that the sources give', () => {
    const listed = new Set(reasons.flatMap(({ reason }) => reason));
    // An example in a comment may give a reason of its own.
    const code = sourceText().replaceAll(/^\s*\*.*$/gm, '');
    const given = [
      ...code.matchAll(
        /\breason: (?:[^,;{}\n]*\? )?'([a-z][a-z0-9_]*)'(?: : '([a-z][a-z0-9_]*)')?/g,
      ),
    ].flatMap((match) => [match[1], match[2]]);
    // What was changed is said by `reason` too, by `tools:changed` and by a relay's notices of
    // tools; that is no refusal.
    const changes = ['registry', 'resync', 'update'];
    expect(
      [...new Set(given)].filter(
        (reason) => reason !== undefined && !changes.includes(reason) && !listed.has(reason),
      ),
    ).toEqual([]);
  });

  test('lists no reason that the sources do not know', () => {
    const text = sourceText();
    expect(
      reasons.map(({ reason }) => reason).filter((reason) => !text.includes(`'${reason}'`)),
    ).toEqual([]);
  });
});

describe('docs/images/benchmarks.svg', () => {
  // `npx vitest run test/docs.test.ts -u` draws it anew.
  test('shows what the table of docs/performance.md says', async () => {
    await expect(benchmarksPicture()).toMatchFileSnapshot('../docs/images/benchmarks.svg');
  });
});

describe('docs/decisions', () => {
  const decisions = pages.filter(({ path }) => /^docs\/decisions\/\d/.test(path));
  const index = pages.find(({ path }) => path === 'docs/decisions/README.md')!;

  test('are numbered without a gap, and the heading bears the number', () => {
    expect(decisions.map(({ path }) => basename(path).slice(0, 4))).toEqual(
      decisions.map((_, at) => String(at + 1).padStart(4, '0')),
    );
    for (const { path, text } of decisions)
      expect(headingsOf(text)[0], path).toMatch(
        new RegExp(`^${Number(basename(path).slice(0, 4))}\\. `),
      );
  });

  test('are in the index under their own headings, in order', () => {
    const listed = [...index.text.matchAll(/^\d+\. \[(.+)\]\((\d{4}-[^)]+)\)$/gm)].map((match) => [
      match[2],
      match[1],
    ]);
    expect(listed).toEqual(
      decisions.map(({ path, text }) => [
        basename(path),
        headingsOf(text)[0]!.replace(/^\d+\. /, ''),
      ]),
    );
  });
});

describe('everything that a host can write is documented somewhere', () => {
  const told = pages.map(({ text }) => text).join('\n');
  const isTold = (member: string): boolean =>
    new RegExp(`[\`.({, ]${member.replaceAll(/\W/g, '\\$&')}\\b`).test(told);

  test.each([
    'ToolContext',
    'Surface',
    'ToolSpecBase',
    'Profile',
    'Rule',
    'ToolSession',
    'Approvals',
    'ResultMetadata',
    'ToolEvents',
    'RelayConnection',
    'RelayCallContext',
    'AuditLog',
    'AuditCheck',
    'Inspector',
    'BacktestRecord',
    'BacktestResult',
    'BacktestSummary',
  ])('each member of %s', (type) => {
    const members = membersOf(type);
    expect(members.length).toBeGreaterThan(0);
    expect(members.filter((name) => !isTold(name))).toEqual([]);
  });

  // Whatever is exported and has such a name is written or read by hosts.
  const options = exampleEntries
    .flatMap(([, entry]) => exportsOf(entry))
    .filter(({ name }) => /(?:Options|Limits|Metrics|Query)$/.test(name))
    // Those of the SDK's client, which this library calls.
    .filter(({ name }) => name !== 'McpRequestOptions')
    .map(({ name, declarations }) => [name, declarations.flatMap(memberNames)] as const);

  test.each(options)('each member of %s, which is exported', (_, members) => {
    expect(members.filter((name) => !isTold(name))).toEqual([]);
  });

  test('each value that the core exports', () => {
    expect(Object.keys(core).filter((name) => !told.includes(name))).toEqual([]);
  });

  test.each([...subpaths].slice(1))('each value that %s exports', async (_, entry) => {
    const exported = Object.keys((await import(join(root, entry))) as object);
    expect(exported.filter((name) => !told.includes(name))).toEqual([]);
  });
});

function sourceText(): string {
  return sources.join('\n');
}

/**
 * The member names of an interface or of an alias made of object types, wherever in `src` it
 * stands.
 */
function membersOf(type: string): string[] {
  const text =
    sources.find((source) =>
      new RegExp(`^export (?:interface|type) ${type}\\b`, 'm').test(source),
    ) ?? '';
  const tree = ts.createSourceFile('type.ts', text, ts.ScriptTarget.ES2022, true);
  return tree.statements
    .filter(
      (statement) =>
        (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) &&
        statement.name.text === type,
    )
    .flatMap(memberNames);
}

function memberNames(node: ts.Node): string[] {
  const names: string[] = [];
  const collect = (type: ts.Node): void => {
    if (ts.isTypeAliasDeclaration(type)) collect(type.type);
    else if (ts.isTypeLiteralNode(type) || ts.isInterfaceDeclaration(type)) {
      for (const member of type.members)
        if (member.name !== undefined && !ts.isComputedPropertyName(member.name))
          names.push((member.name as ts.Identifier).text);
    } else if (ts.isIntersectionTypeNode(type)) type.types.forEach(collect);
  };
  collect(node);
  return [...new Set(names)];
}
