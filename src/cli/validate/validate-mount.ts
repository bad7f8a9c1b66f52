/** Checks of `mount(coordinator, config)`: what it mounts, returns and leaves behind. */

import type { JsonObject, ToolSession } from '../../core.ts';
import { TestCoordinator } from '../../surfaces/testing/index.ts';
import { describe } from '../../values/errors/index.ts';
import { type Findings, memberOf, within } from './validate-checks.ts';
import { checkMountedTool, type ToolCheckOptions } from './validate-tool.ts';

type Mount = (coordinator: TestCoordinator, config: object) => unknown;

const channel = 'observability.events';

/**
 * Mounts the module on a test coordinator with the given configuration, checks the result, and
 * cleans up. Returns the legal names of its tools.
 */
export async function checkMount(
  mount: Mount,
  owner: unknown,
  findings: Findings,
  options: ToolCheckOptions,
): Promise<string[]> {
  const { timeoutMs, config } = options;
  const given = configText(config);
  findings.note(
    'entry_point_parameters',
    mount.length >= 2
      ? undefined
      : `\`mount\` declares ${mount.length} parameter${mount.length === 1 ? '' : 's'}; loaders ` +
          'count them and expect (coordinator, config), without default values.',
    '`mount` takes (coordinator, config).',
  );
  const coordinator = new TestCoordinator();
  const ended = await within(timeoutMs, () =>
    Reflect.apply(mount, owner, [coordinator, structuredClone(config)]),
  );
  const fault =
    ended.kind === 'late'
      ? `\`mount\` did not settle within ${timeoutMs} ms.`
      : ended.kind === 'threw'
        ? `\`mount\` failed with ${given}: ${ended.text.replace(/\.$/, '')}. If the module needs ` +
          'a configuration, give one with --config. If the agent can do without the tools, ' +
          'return null.'
        : undefined;
  const names: string[] = [];
  try {
    if (
      findings.note('mount_runs', fault, `\`mount\` ran with ${given}.`) &&
      ended.kind === 'value'
    ) {
      const returned: unknown = ended.value;
      const tools = [...(coordinator.get('tools') as ReadonlyMap<string, unknown>)];
      checkReturned(returned, tools, coordinator, given, findings);
      for (const [key, tool] of tools) {
        const name = await checkMountedTool(key, tool, findings, options);
        if (name !== undefined) names.push(name);
      }
      checkUnique(names, coordinator, findings);
      if (tools.length > 0) await checkObservability(coordinator, findings, timeoutMs);
      if (typeof returned === 'function')
        await checkReturnedCleanup(returned as () => unknown, findings, timeoutMs);
    }
  } finally {
    // This runs even if a hostile module has cut the checks short.
    await checkCleanup(
      coordinator,
      ended.kind === 'value' && typeof ended.value === 'function',
      findings,
      timeoutMs,
    );
  }
  return [...new Set(names)];
}

function checkReturned(
  returned: unknown,
  tools: readonly (readonly [string, unknown])[],
  coordinator: TestCoordinator,
  given: string,
  findings: Findings,
): void {
  const isNothing = returned === null || returned === undefined;
  const isTool =
    typeof returned === 'object' &&
    returned !== null &&
    typeof memberOf(returned, 'execute').value === 'function';
  findings.note(
    'mount_returns',
    isNothing || isTool || typeof returned === 'function'
      ? undefined
      : `\`mount\` returned ${describe(returned)}; expected the tool, a clean-up function, or ` +
          'null.',
    '`mount` returned the tool, a clean-up function, or null.',
  );
  if (tools.length > 0) {
    const unmounted = isTool && !tools.some(([, tool]) => tool === returned);
    return void findings.note(
      'mounts_tools',
      unmounted ? 'The tool that `mount` returned is not the one that it mounted.' : undefined,
      countOf(tools.length),
    );
  }
  const others = [...new Set(coordinator.mountHistory.map(({ mountPoint }) => mountPoint))].filter(
    (point) => point !== 'tools',
  );
  if (others.length > 0)
    return findings.fail(
      'mounts_tools',
      `It mounted nothing at \`tools\`, only at ` +
        `${others.map((point) => `\`${point}\``).join(', ')}.`,
    );
  const gated = gatedTools(coordinator);
  if (isNothing)
    findings.fail(
      'mount_available',
      `\`mount\` returned null and mounted nothing with ${given}, so its tools could not be ` +
        'checked. If they depend on the configuration, give one with --config.',
    );
  else if (gated.length > 0)
    findings.fail(
      'mount_available',
      `None of its tools is available with ${given}: ${gated.join(', ')}.`,
    );
  else if (coordinator.mountHistory.length > 0)
    findings.fail(
      'mounts_tools',
      'The tool that it mounted at `tools` is not there: the mount was refused or undone.',
    );
  else
    findings.fail(
      'mounts_tools',
      'It mounted nothing: call `await coordinator.mount("tools", tool, tool.name)`.',
    );
}

/**
 * Tools that the session hides at the moment, each with the reason. For modules of this library.
 */
function gatedTools(coordinator: TestCoordinator): string[] {
  const session = coordinator.getCapability('host-tools.session') as ToolSession | null;
  return session === null
    ? []
    : session.effectiveTools().dropped.map(({ name, code }) => `${name} (${code})`);
}

/** A coordinator overwrites silently, so only its history shows two tools of the same name. */
function checkUnique(
  names: readonly string[],
  coordinator: TestCoordinator,
  findings: Findings,
): void {
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  const keys = new Map<unknown, unknown>();
  for (const { mountPoint, module, name } of coordinator.mountHistory) {
    const key = name ?? memberOf(module, 'name').value;
    if (mountPoint !== 'tools' || typeof key !== 'string') continue;
    if (keys.has(key) && keys.get(key) !== module) twice.push(key);
    keys.set(key, module);
  }
  findings.note(
    'name_unique',
    twice.length === 0
      ? undefined
      : 'More than one of its tools is called ' +
          `${[...new Set(twice)].map((name) => `\`${name}\``).join(', ')}.`,
    'Each of its tools has a different name.',
  );
}

async function checkObservability(
  coordinator: TestCoordinator,
  findings: Findings,
  timeoutMs: number,
): Promise<void> {
  const registered = coordinator.channels.has(channel);
  const collected = registered
    ? await within(timeoutMs, () => coordinator.collectContributions(channel))
    : undefined;
  const broken = coordinator.faults.find(({ where }) => where === 'contributor');
  const lists = collected?.kind === 'value' ? collected.value : [];
  const isNames = (list: unknown): boolean =>
    Array.isArray(list) && list.every((name) => typeof name === 'string');
  const fault = !registered
    ? `It declares no events. Register a contributor of \`${channel}\` that lists their names.`
    : collected?.kind === 'late'
      ? `Its contributor of \`${channel}\` did not settle within ${timeoutMs} ms.`
      : broken !== undefined
        ? `Its contributor \`${broken.name}\` of \`${channel}\` failed.`
        : lists.every(isNames)
          ? undefined
          : `Its contributor of \`${channel}\` did not return a list of names.`;
  findings.note('observability_events', fault, `It contributes to \`${channel}\`.`);
}

async function checkReturnedCleanup(
  cleanup: () => unknown,
  findings: Findings,
  timeoutMs: number,
): Promise<void> {
  for (const [name, time] of [
    ['cleanup_runs', 'The clean-up that `mount` returned'],
    ['cleanup_idempotent', 'The second call of the clean-up'],
  ] as const) {
    const ended = await within(timeoutMs, cleanup);
    const fault =
      ended.kind === 'late'
        ? `${time} did not settle within ${timeoutMs} ms.`
        : ended.kind === 'threw'
          ? `${time} failed: ${ended.text}`
          : undefined;
    if (
      !findings.note(
        name,
        fault,
        name === 'cleanup_runs' ? 'The clean-up runs.' : 'A second clean-up does no harm.',
      )
    )
      return;
  }
}

/** Cleans up as a runtime does at the end of a session. */
async function checkCleanup(
  coordinator: TestCoordinator,
  cleaned: boolean,
  findings: Findings,
  timeoutMs: number,
): Promise<void> {
  const ended = await within(timeoutMs, () => coordinator.cleanup());
  const broken = coordinator.faults.filter(({ where }) => where === 'cleanup').length;
  if (ended.kind === 'late')
    findings.fail(
      'cleanup_runs',
      'The function that it registered with `registerCleanup` did not settle within ' +
        `${timeoutMs} ms.`,
    );
  else if (broken > 0)
    findings.fail(
      'cleanup_runs',
      `${broken} of the functions that it registered with \`registerCleanup\` failed.`,
    );
  if (!cleaned) return;
  const left = [...(coordinator.get('tools') as ReadonlyMap<string, unknown>).keys()];
  findings.note(
    'cleanup_unmounts',
    left.length === 0
      ? undefined
      : `After the clean-up these tools are still mounted: ${left.join(', ')}.`,
    'The clean-up unmounts.',
  );
}

function configText(config: JsonObject): string {
  return Object.keys(config).length === 0
    ? 'an empty configuration'
    : 'the configuration of --config';
}

function countOf(tools: number): string {
  return tools === 1 ? 'It mounted one tool.' : `It mounted ${tools} tools.`;
}
