/** Validates one file: finds out its kind and what it offers, and runs the checks for that. */
import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { describe } from '../../errors/index.ts';
import { HostToolRegistry, type Quota, type Rule } from '../../index.ts';
import type { HostedParts } from '../../surfaces/config/file-host.ts';
import { faultText } from '../../surfaces/config/import-module.ts';
import { ModuleFault } from '../../surfaces/config/module-fault.ts';
import { fileOfFolder } from '../../surfaces/config/package-folder.ts';
import { prefixOf } from '../../surfaces/gateway/server-connection.ts';
import { configEndings, kindOfFile, moduleEndings } from '../file-kinds.ts';
import { requireFile } from '../read-text.ts';
import type { Findings } from './validate-checks.ts';
import { checkDefinitions, registerEach } from './validate-definitions.ts';
import { memberOf, textOf, within } from './validate-foreign-code.ts';
import { type Callable, type ModuleOffer, readModule } from './validate-module.ts';
import { checkMount } from './validate-mount.ts';
import {
  checkQuotas,
  checkReferences,
  type WrittenQuota,
  type WrittenRule,
} from './validate-references.ts';
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
  try {
    if (offer.setup !== undefined) await runSetup(offer.setup, path, registry, findings, timeoutMs);
    registerEach(offer.definitions, registry, findings);
    checkReferences(registry, [], findings);
    names.push(...(await checkDefinitions(registry.listTools(), findings, options)));
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

/** The rules and quotas of a file that was loaded just now. */
async function writtenIn(path: string): Promise<{
  readonly rules: readonly WrittenRule[];
  readonly quotas: readonly WrittenQuota[];
}> {
  const { readFile } = await import('../../surfaces/config/read-file.ts');
  const { rules, quotas } = await readFile(path);
  return {
    rules: rules.map(({ index, line, value }) => ({
      place: `rules[${index}], line ${line}`,
      rule: value as Rule,
    })),
    quotas: quotas.map(({ index, line, value }) => ({
      place: `quotas[${index}], line ${line}`,
      quota: value as Quota,
    })),
  };
}

/** With one prefix, two servers can have tools of the same name, and only one of them is taken. */
function checkPrefixes(servers: HostedParts['servers'], findings: Findings): void {
  const first = new Map<string, string>();
  for (const [name, entry] of servers) {
    const prefix = prefixOf({ name, entry });
    const other = first.get(prefix);
    findings.note(
      'server_prefixes',
      other === undefined
        ? undefined
        : `The servers \`${other}\` and \`${name}\` have the same prefix \`${prefix}\`. Of ` +
            'two tools with the same name, only one is taken. Give each server a `prefix` of its ' +
            'own.',
      `The server \`${name}\` has a prefix of its own.`,
    );
    if (other === undefined) first.set(prefix, name);
  }
}

async function checkConfig(
  path: string,
  findings: Findings,
  options: ToolCheckOptions,
): Promise<readonly string[]> {
  const { timeoutMs } = options;
  const registry = new HostToolRegistry();
  // Servers are not started, so only their form is checked.
  let servers: HostedParts['servers'] = new Map();
  try {
    const ended = await within(timeoutMs, async () => {
      // Loaded only here, because it needs a package that modules do not need.
      const { loadHostTools } = await import('../../surfaces/config/index.ts');
      const { setFileHost } = await import('../../surfaces/config/loaded-files.ts');
      setFileHost(registry as unknown as HostToolRegistry<never>, {
        problem: () => undefined,
        take: (parts) => {
          servers = parts.servers;
        },
      });
      return loadHostTools(path, registry);
    });
    const fault =
      ended.kind === 'late'
        ? `Loading it did not end within ${timeoutMs} ms.`
        : ended.kind === 'threw'
          ? `It is not a host-tools file: ${ended.text}`
          : undefined;
    if (!findings.note('config_loads', fault, 'It is a host-tools file.') || ended.kind !== 'value')
      return [];
    const { loaded, profiles, rules, quotas = [], failed } = ended.value;
    for (const { section, index, name, reason, line } of failed) {
      const place = `${section}[${index}]${line === undefined ? '' : `, line ${line}`}`;
      findings.note('config_entries', `${place}: ${reason}`, '', name);
    }
    if (failed.length === 0)
      findings.note('config_entries', undefined, 'Each of its entries loads.');
    const empty =
      loaded.length + profiles.length + rules + quotas.length + servers.size + failed.length === 0;
    findings.note(
      'config_not_empty',
      empty ? 'It has no entries: list tools, servers, profiles, rules or quotas.' : undefined,
      'It has entries.',
    );
    // If a rule or quota did not load, nothing did, so there are no tools to match.
    const written = await writtenIn(path);
    // A rule about a server's tools matches none that is known here.
    checkPrefixes(servers, findings);
    if (servers.size === 0) {
      checkReferences(registry, written.rules, findings);
      checkQuotas(registry, written.quotas, findings);
    }
    return await checkDefinitions(registry.listTools(), findings, options);
  } finally {
    await within(timeoutMs, () => registry.close());
  }
}
