/** The checks of a host-tools file: YAML or JSON. */

import { registryStateOf } from '../../core/registry/state-of.ts';
import { everyRule } from '../../core/rules/rule-use.ts';
import type { Quota, Rule } from '../../core.ts';
import { HostToolRegistry } from '../../index.ts';
import { outputsOf } from '../../parts/offload/outputs-of.ts';
import { everyQuota } from '../../parts/quotas/quota-state.ts';
import { reviewOf } from '../../parts/rule-review/review-of.ts';
import type { HostedParts } from '../../surfaces/config/file-host.ts';
import type { FileReport } from '../../surfaces/config/report.ts';
import { prefixOf } from '../../surfaces/gateway/server-connection.ts';
import { type Findings, within } from './validate-checks.ts';
import { checkDefinitions, checkOffload, type WrittenProfile } from './validate-definitions.ts';
import {
  checkDeadRules,
  checkQuotas,
  checkReferences,
  type WrittenQuota,
  type WrittenRule,
} from './validate-references.ts';
import type { ToolCheckOptions } from './validate-tool.ts';

/**
 * Checks a host-tools file. The modules of `options.modules` are loaded before it, as a host's code
 * registers its tools before it loads the file. Returns the names of the file's own tools.
 */
export async function checkConfig(
  path: string,
  findings: Findings,
  options: ToolCheckOptions,
): Promise<readonly string[]> {
  const { timeoutMs, modules } = options;
  const registry = new HostToolRegistry();
  const state = registryStateOf(registry);
  outputsOf(state).onDemand = {};
  reviewOf(state).isOff = true;
  try {
    if (!(await loadModules(registry, modules, findings, timeoutMs))) return [];
    const ended = await within(timeoutMs, () => loadFile(path, registry));
    const fault =
      ended.kind === 'late'
        ? `Loading it did not end within ${timeoutMs} ms.`
        : ended.kind === 'threw'
          ? `It is not a host-tools file: ${ended.text}`
          : undefined;
    if (!findings.note('config_loads', fault, 'It is a host-tools file.') || ended.kind !== 'value')
      return [];
    const { report, hosted } = ended.value;
    const servers = hosted?.servers ?? noServers;
    const later = servers.size + Object.keys(hosted?.openapi ?? {}).length;
    checkEntries(report, later, modules.length > 0, findings);
    checkPrefixes(servers, findings);
    if (hosted !== undefined) checkStore(hosted, report, findings);
    const written = await writtenIn(path);
    // If one of the others did not load, nothing did. It is one mistake, so it is one error.
    const others = report.failed.filter(({ section }) => section !== 'profiles');
    if (others.every(({ section }) => section === 'tools')) {
      // A rule about a server's tools, or about one that did not load, matches none that is known.
      const isWhole = later === 0 && others.length === 0;
      if (isWhole) {
        checkReferences(registry, written.rules, findings);
        checkQuotas(registry, written.quotas, findings);
      }
      checkDeadRules(registry, written, isWhole, findings);
      noteUncompared(registry, later, others.length > 0, findings);
    }
    checkOffload(registry, written.profiles, findings);
    const own = new Set(report.loaded);
    const tools = registry.listTools().filter(({ name }) => own.has(name));
    return await checkDefinitions(tools, findings, options);
  } finally {
    await within(timeoutMs, () => registry.close());
  }
}

/** Loads a file. Its servers are not started, so only their form is checked. */
async function loadFile(
  path: string,
  registry: HostToolRegistry,
): Promise<{ readonly report: FileReport; readonly hosted: HostedParts | undefined }> {
  // Loaded only here, because it needs a package that modules do not need.
  const { loadHostTools } = await import('../../surfaces/config/index.ts');
  const { setFileHost } = await import('../../surfaces/config/loaded-files.ts');
  let hosted: HostedParts | undefined;
  setFileHost(registry as unknown as HostToolRegistry<never>, {
    problem: () => undefined,
    take: (parts) => {
      hosted = parts;
    },
  });
  const report = await loadHostTools(path, registry);
  return { report, hosted };
}

const noServers: HostedParts['servers'] = new Map();

/** Whether what has no place of its own has one in the store, as far as the file alone says. */
function checkStore(
  { store, audit, approvals }: HostedParts,
  { quotas = [] }: FileReport,
  findings: Findings,
): void {
  const isFolder = store?.url.startsWith('file:') === true;
  const homeless = [
    ...(approvals !== undefined && approvals.dir === undefined ? ['`approvals` has no `dir`'] : []),
    ...(audit !== undefined && audit.path === undefined ? ['`audit` has no `path`'] : []),
  ];
  if (store === undefined)
    for (const one of homeless)
      findings.note(
        'store_fits',
        `${one}, and the file no \`store\`: give one of them, or the command \`--store URL\`.`,
        '',
      );
  if (isFolder && audit !== undefined && audit.path === undefined)
    findings.note('store_fits', 'A folder keeps no audit log: give `audit` a `path`.', '');
  if (isFolder && quotas.length > 0)
    findings.note(
      'store_fits',
      'A folder cannot count quotas: use a store in SQLite, PostgreSQL or Redis.',
      '',
    );
}

/**
 * @param later how many servers and APIs the file has, whose tools are not known here
 * @param hasCode Whether modules were loaded before the file.
 */
function checkEntries(
  { loaded, profiles, rules, quotas = [], failed }: FileReport,
  later: number,
  hasCode: boolean,
  findings: Findings,
): void {
  for (const { section, index, name, reason, line } of failed) {
    const place = `${section}[${index}]${line === undefined ? '' : `, line ${line}`}`;
    const remedy = section === 'profiles' && !hasCode ? codeRemedy(reason) : '';
    findings.note('config_entries', `${place}: ${reason}${remedy}`, '', name);
  }
  if (failed.length === 0) findings.note('config_entries', undefined, 'Each of its entries loads.');
  const empty =
    loaded.length + profiles.length + rules + quotas.length + later + failed.length === 0;
  findings.note(
    'config_not_empty',
    empty ? 'It has no entries: list tools, servers, profiles, rules or quotas.' : undefined,
    'It has entries.',
  );
}

/** Notes that names in rules and quotas were not compared with tools, and what to do about it. */
function noteUncompared(
  registry: HostToolRegistry,
  later: number,
  hasLost: boolean,
  findings: Findings,
): void {
  const state = registryStateOf(registry);
  if (everyRule(state).length + everyQuota(state).length === 0) return;
  const why = hasLost
    ? 'A tool did not load. Fix it first.'
    : later > 0
      ? 'The servers of the file are not started here and its APIs not imported, so their tools ' +
        'are not known. ' +
        '`host-tools explain` and `host-tools policy test` start them.'
      : state.catalogue.tools.size === 0
        ? 'The file has no tools. If your code defines them, give its module with ' +
          '`--host-tools-module MOD`.'
        : undefined;
  findings.note(
    'rules_compared',
    why === undefined
      ? undefined
      : `It is not known whether the rules and quotas match a tool, by name and arguments. ${why}`,
    'The rules and quotas were compared with the tools.',
  );
}

/** Loads the modules whose tools the file's profiles may name. False if one does not load. */
async function loadModules(
  registry: HostToolRegistry,
  modules: readonly string[],
  findings: Findings,
  timeoutMs: number,
): Promise<boolean> {
  if (modules.length === 0) return true;
  const { loadHostToolsModule } = await import('../../surfaces/config/index.ts');
  const faults: string[] = [];
  for (const name of modules) {
    const ended = await within(timeoutMs, () => loadHostToolsModule(name, registry));
    if (ended.kind === 'late')
      faults.push(`Loading the module ${name} did not end within ${timeoutMs} ms.`);
    else if (ended.kind === 'threw') faults.push(ended.text);
    else
      for (const { file, name: tool = 'an export', reason } of ended.value.failed)
        faults.push(`${file}: ${tool}: ${reason}`);
  }
  for (const fault of faults) findings.fail('modules_load', fault);
  if (faults.length > 0) return false;
  return findings.note('modules_load', undefined, 'The modules that it needs load.');
}

/** What to do if the entry names what the file does not have, because code registers it. */
function codeRemedy(reason: string): string {
  return /expected `tools` to name registered tools|there is no profile/.test(reason)
    ? ' If your code registers it, give the module with `--host-tools-module MOD`.'
    : '';
}

/** The rules, quotas and profiles of a file that was loaded just now. */
async function writtenIn(path: string): Promise<{
  readonly rules: readonly WrittenRule[];
  readonly quotas: readonly WrittenQuota[];
  readonly profiles: readonly WrittenProfile[];
}> {
  const { readFile } = await import('../../surfaces/config/read-file.ts');
  const { rules, quotas, profiles } = await readFile(path);
  return {
    rules: rules.map(({ index, line, value }) => ({
      place: `rules[${index}], line ${line}`,
      rule: value as Rule,
    })),
    quotas: quotas.map(({ index, line, value }) => ({
      place: `quotas[${index}], line ${line}`,
      quota: value as Quota,
    })),
    profiles: profiles.map(({ index, line, key, value }) => ({
      id: key as string,
      place: `profiles[${index}], line ${line} \`${key}\``,
      listsByName: !Array.isArray((value as { tools?: unknown } | null)?.tools),
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
