/**
 * Writes the API reference, from the TSDoc of every public subpath, into `docs/api`. Git and npm
 * ignore that folder.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  Application,
  Comment,
  Converter,
  LogLevel,
  ReflectionKind,
  type TypeDocOptions,
} from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import tsupConfig from '../../tsup.config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = join(root, 'docs/api');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string;
  exports: Record<string, unknown>;
};
const entries = tsupConfig.entry as Readonly<Record<string, string>>;

/** Each source file that is an entry, with the specifier under which users import it. */
const specifiers = new Map(
  Object.keys(manifest.exports)
    .filter((subpath) => !subpath.endsWith('.json'))
    .map((subpath) => [
      join(root, entries[subpath === '.' ? 'index' : subpath.slice(2)] as string),
      manifest.name + subpath.slice(1),
    ]),
);

/** What the page of imports says about each, with links to the pages of the site. */
const summaries = new Map(
  [
    ...readFileSync(join(root, 'docs/imports.md'), 'utf8').matchAll(/^\| `([^`]+)` \| (.+) \|$/gm),
  ].map(([, specifier = '', text = '']) => [
    specifier,
    `${text.replaceAll(/\(([\w-]+)\.md/g, '(/$1')}.`.replace(/^(?:\[)?\w/, (first) =>
      first.toUpperCase(),
    ),
  ]),
);

const options: TypeDocOptions & Partial<PluginOptions> & { docsRoot: string } = {
  name: 'API reference',
  logLevel: LogLevel.Warn,
  entryPoints: [...specifiers.keys()],
  tsconfig: join(root, 'tsconfig.json'),
  // `npm run typecheck` has done it.
  skipErrorChecking: true,
  plugin: ['typedoc-plugin-markdown', 'typedoc-vitepress-theme'],
  out,
  docsRoot: join(root, 'docs'),
  readme: 'none',
  sort: ['alphabetical'],
  sortEntryPoints: false,
  disableSources: true,
  excludeInternal: true,
  excludePrivate: true,
  entryFileName: 'index.md',
  indexFormat: 'table',
  parametersFormat: 'table',
  groupOrder: [
    ...['Functions', 'Variables', 'Classes', 'Interfaces', 'Type Aliases'],
    ...['Constructors', 'Properties', 'Accessors', 'Methods'],
  ],
  pageTitleTemplates: { index: '{projectName}', member: '{name}' },
};
const app = await Application.bootstrapWithPlugins(options);

app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
  for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
    const file = project.files.getReflectionPath(module);
    const specifier = file === undefined ? undefined : specifiers.get(file);
    if (specifier === undefined) throw new Error(`${module.name} is no public subpath`);
    module.name = specifier;
    const summary = summaries.get(specifier);
    if (summary !== undefined) module.comment ??= new Comment([{ kind: 'text', text: summary }]);
  }
});

const project = await app.convert();
if (project === undefined) throw new Error('TypeDoc could not read the sources');
rmSync(out, { recursive: true, force: true });
await app.generateOutputs(project);
if (app.logger.hasErrors()) process.exitCode = 1;
