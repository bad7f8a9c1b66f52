/** Validates one file: finds out its kind and what it offers, and runs the checks for that. */
import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { registryStateOf } from '../../core/registry/state-of.ts';
import { HostToolRegistry } from '../../index.ts';
import { outputsOf } from '../../parts/offload/outputs-of.ts';
import { reviewOf } from '../../parts/rule-review/review-of.ts';
import { faultText } from '../../surfaces/config/import-module.ts';
import { fileOfFolder, ModuleFault } from '../../surfaces/config/resolve-module.ts';
import { describe } from '../../values/errors/index.ts';
import { requireFile } from '../read-text.ts';
import { configEndings, kindOfFile, moduleEndings } from '../sources.ts';
import { type Findings, memberOf, textOf, within } from './validate-checks.ts';
import { checkConfig } from './validate-config.ts';
import { checkDefinitions, checkOffload, registerEach } from './validate-definitions.ts';
import { type Callable, type ModuleOffer, readModule } from './validate-module.ts';
import { checkMount } from './validate-mount.ts';
import { checkAddedRules, checkReferences } from './validate-references.ts';
import type { ToolCheckOptions } from './validate-tool.ts';

const expected =
  `Expected a module (${moduleEndings.join(', ')}) or a host-tools file ` +
  `(${configEndings.join(', ')}).`;

/**
 * Checks the file at an absolute path, or the file that the package.json of a directory there
 * names. Returns the names of its tools.
 */
export async function checkFile(
  given: string,
  findings: Findings,
  options: ToolCheckOptions,
): Promise<readonly string[]> {
  const { path = given, fault } = await fileAt(given);
  const exists = path === given ? 'The file exists.' : `The directory names ${path}.`;
  if (!findings.note('file_exists', fault, exists)) return [];
  const kind = kindOfFile(path);
  if (
    !findings.note(
      'file_kind',
      kind === undefined ? expected : undefined,
      kind === 'file' ? 'A host-tools file.' : 'A module.',
    )
  )
    return [];
  return kind === 'file'
    ? checkConfig(path, findings, options)
    : checkModule(path, findings, options);
}

/** The path of the file to check, or why there is none. */
async function fileAt(
  given: string,
): Promise<{ readonly path?: string; readonly fault?: string | undefined }> {
  try {
    await requireFile(given, { cwd: '/' }, true);
    const found = await stat(given);
    if (found.isDirectory()) return { path: await fileOfFolder(given) };
    return found.isFile()
      ? { path: given }
      : { fault: `Cannot read \`${given}\`: it is not a regular file.` };
  } catch (error) {
    const reason = error instanceof ModuleFault ? error.message : textOf(error);
    return { fault: `Cannot read \`${given}\`: ${reason}.` };
  }
}

async function checkModule(
  path: string,
  findings: Findings,
  options: ToolCheckOptions,
): Promise<readonly string[]> {
  const { timeoutMs } = options;
  const ended = await within(timeoutMs, () => import(pathToFileURL(path).href) as Promise<object>);
  const fault =
    ended.kind === 'late'
      ? `Importing it did not end within ${timeoutMs} ms: something that it awaits at its top ` +
        'level never settles, or it is slow.'
      : ended.kind === 'threw'
        ? `Importing it failed: ${faultText(ended.thrown, path)}${typeScriptRemedy(path)}`
        : undefined;
  if (!findings.note('importable', fault, 'It can be imported.') || ended.kind !== 'value')
    return [];

  const offer = readModule(ended.value);
  for (const text of offer.faults) findings.fail('definitions', text);
  if (!findings.note('entry_point', entryFault(offer), 'It has an entry point or definitions.'))
    return [];
  const names: string[] = [];
  if (offer.mount !== undefined) {
    const { value, owner } = offer.mount;
    names.push(
      ...(await checkMount(
        value as (coordinator: unknown, config: object) => unknown,
        owner,
        findings,
        options,
      )),
    );
  }
  const registry = new HostToolRegistry();
  const state = registryStateOf(registry);
  outputsOf(state).onDemand = {};
  reviewOf(state).isOff = true;
  try {
    if (offer.setup !== undefined) await runSetup(offer.setup, path, registry, findings, timeoutMs);
    registerEach(offer.definitions, registry, findings);
    checkReferences(registry, [], findings);
    checkAddedRules(registry, findings);
    const profiles = [...state.profiles.keys()].map((id) => ({ id, place: `profile \`${id}\`` }));
    checkOffload(registry, profiles, findings);
    const tools = registry.listTools().filter((tool) => !state.ports.tools.own.has(tool));
    names.push(...(await checkDefinitions(tools, findings, options)));
  } finally {
    await within(timeoutMs, () => registry.close());
  }
  return names;
}

function entryFault({
  mount,
  setup,
  definitions,
  faults,
  arrays,
  names,
}: ModuleOffer): string | undefined {
  if (mount !== undefined && typeof mount.value !== 'function') {
    const got = describe(mount.value);
    return `Expected \`mount\` to be a function (coordinator, config), got ${got}.`;
  }
  if (setup !== undefined && typeof setup.value !== 'function')
    return `Expected \`${setup.name}\` to be a function (registry), got ${describe(setup.value)}.`;
  // If it were called with a registry, its error would be misleading.
  if (setup?.name === 'default' && memberOf(setup.value, 'name').value === 'mount')
    return 'The default export is a function `mount`: export it by that name.';
  if (mount !== undefined || setup !== undefined || definitions.length > 0 || faults.length > 0)
    return undefined;
  if (arrays.length > 0)
    return (
      `\`${arrays[0]}\` is an array of definitions: make it the default export, or export each ` +
      'of them by name.'
    );
  const exported =
    names.length === 0
      ? 'it exports nothing'
      : `it exports ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`;
  return (
    `Expected \`mount(coordinator, config)\`, \`setupHostTools(registry)\`, or definitions made ` +
    `by defineTool() as default or named exports; ${exported}.`
  );
}

function typeScriptRemedy(path: string): string {
  if (!/\.[mc]?ts$/.test(path)) return '';
  return (
    `. Node ${process.version} runs TypeScript only if it can strip the types (from 22.18 ` +
    'on) or with a loader. Give the built .js file instead.'
  );
}

async function runSetup(
  setup: Callable,
  path: string,
  registry: HostToolRegistry,
  findings: Findings,
  timeoutMs: number,
): Promise<void> {
  const what =
    setup.name === 'default'
      ? 'The default export, called as a setup function,'
      : `\`${setup.name}\``;
  const ended = await within(timeoutMs, () =>
    Reflect.apply(setup.value as (registry: HostToolRegistry) => unknown, setup.owner, [registry]),
  );
  const fault =
    ended.kind === 'late'
      ? `${what} did not settle within ${timeoutMs} ms.`
      : ended.kind === 'threw'
        ? `${what} failed: ${faultText(ended.thrown, path)}`
        : registry.count === 0
          ? `${what} registered no tool.`
          : undefined;
  findings.note('setup_runs', fault, `${what} ran.`);
}
