/** The host's part of every session: the registry, and the options of each session. */
import { HostToolRegistry, type SessionOptions } from '../../../index.ts';
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

/** The options of the governed session behind a relay session. */
export function governedSessionOptions(
  {
    profile,
    policies,
    hooks,
    services,
    facts,
    discovery,
    limits,
    exposeErrors = 'masked',
    approver,
    approvalMode,
    approvalTimeoutMs,
  }: RelaySessionOptions,
  code: string,
): SessionOptions {
  const given = {
    profile,
    policies,
    hooks,
    services,
    facts,
    discovery,
    limits,
    approver,
    approvalMode,
    approvalTimeoutMs,
  };
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    exposeErrors,
    sessionId: code,
    principal: `relay:${code}`,
  };
}
