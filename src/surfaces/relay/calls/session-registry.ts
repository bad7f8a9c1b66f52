/**
 * Makes the host's part of every session, which is the registry and the options of each session.
 */
import type { SessionOptions } from '../../../core.ts';
import { HostToolRegistry } from '../../../index.ts';
import type { RelaySessionOptions } from '../options.ts';
import type { RelaySettings } from '../settings.ts';

/** Gets the host's registry, or makes one from its options. */
export function sessionRegistry(
  options: RelaySessionOptions,
  settings: RelaySettings,
): HostToolRegistry {
  return (options.registry as HostToolRegistry | undefined) ?? makeRegistry(options, settings);
}

function makeRegistry(
  { tools = [], rules, quotas, quotaStore, profiles = [], approvals }: RelaySessionOptions,
  { now, logger }: RelaySettings,
): HostToolRegistry {
  const registry = new HostToolRegistry({
    now,
    logger,
    ...(rules === undefined ? {} : { rules }),
    ...(quotas === undefined ? {} : { quotas }),
    ...(quotaStore === undefined ? {} : { quotaStore }),
    ...(approvals === undefined ? {} : { approvals }),
  });
  registry.registerAll(tools);
  for (const profile of profiles) registry.defineProfile(profile);
  return registry;
}

const governed = [
  'profile',
  'policies',
  'hooks',
  'services',
  'facts',
  'discovery',
  'limits',
  'approver',
  'approvalMode',
  'approvalTimeoutMs',
] as const;

/** Makes the options of the governed session behind a relay session. */
export function governedSessionOptions(options: RelaySessionOptions, code: string): SessionOptions {
  const { exposeErrors = 'masked' } = options;
  const given = governed.flatMap((name) =>
    options[name] === undefined ? [] : [[name, options[name]] as const],
  );
  return {
    ...Object.fromEntries(given),
    exposeErrors,
    sessionId: code,
    principal: `relay:${code}`,
  };
}
