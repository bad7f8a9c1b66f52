/** `relay`: runs a relay, where applications bring their tools to agents' sessions. */
import { createHmac, randomBytes } from 'node:crypto';
import { registryStateOf } from '../core/registry/state-of.ts';
import { HostToolRegistry } from '../index.ts';
import { outputsOf } from '../parts/offload/outputs-of.ts';
import type { Gateway } from '../surfaces/gateway/gateway.ts';
import { basePath } from '../surfaces/relay/http/route-table.ts';
import { type RelayLogger, type ServedRelay, serveRelay } from '../surfaces/relay/index.ts';
import { messageOf } from '../values/errors/index.ts';
import { type CliIo, writeOut } from './cli-io.ts';
import type { Answer, Command } from './command.ts';
import { failure, untilInterrupted, usageFault } from './fault.ts';
import { openGateway } from './open-gateway.ts';
import type { Options } from './options.ts';
import { jsonText } from './printable.ts';
import { redisAddress } from './redis-address.ts';
import { readRelayFile, relaySettings } from './relay-settings.ts';
import type { Screen } from './screen.ts';
import { openRunStore, type RunStore } from './store/kept-store.ts';
import { driversOf } from './store/open-store.ts';
import { openWorld } from './world.ts';

/** The address has already been written to standard output. */
const done: Answer = { exit: 0, text: '', json: null, silent: true };

export const relay: Command = {
  name: 'relay',
  usage: '[--config FILE] [--port N] [--store URL] [--host-tools FILE]',
  summary: "start a relay, where applications bring their tools to agents' sessions",
  notes: [
    'Listens on http://127.0.0.1:4040 until it is interrupted, then says goodbye to everyone who ' +
      'is connected. Log lines are JSON on standard error.',
    'Tools, profiles and rules of --host-tools apply in every session.',
    'Calls that need an approval are refused. With --host-key they wait for',
    `\`POST ${basePath}/:code/approvals/:approvalId\` with the key.`,
    'Nodes with the same --store and the same key are one relay. --redis is --store for Redis.',
    'Behind a proxy, give --trust-proxy and --allowed-host. /healthz and /readyz need no key;',
    '/metrics needs --metrics and the key.',
  ],
  options: [
    'host-tools',
    'host-tools-module',
    'profile',
    'config',
    'port',
    'host',
    'store',
    'redis',
    'host-key',
    'allowed-host',
    'allowed-origin',
    'allow-origin',
    'trust-proxy',
    'ttl',
    'max-ttl',
    'lease',
    'request-timeout',
    'limit',
    'max-connections',
    'metrics',
    'pairing',
  ],
  wording: {
    config: {
      value: 'FILE',
      help: 'take options of `serveRelay` from a YAML or JSON file; options of the line win',
    },
    metrics: {
      help: 'also serve counts of the calls for Prometheus, at /metrics, to requests with the key',
    },
  },
  operands: [],
  runsPrograms: true,
  packages: (options) => (options.redis === undefined ? driversOf(options) : ['ioredis']),
  // Longer than 60 lines, since its `finally` closes in order what the lines above it open.
  async run({ io, screen: terminal, options }) {
    const file = options.config === undefined ? {} : await readRelayFile(options.config, io);
    const profile = options.session.profile ?? file.session?.profile;
    const settings = relaySettings(
      options,
      file,
      options.relay.hostKey === undefined ? undefined : keyOf(options.relay.hostKey, io),
    );
    const { hostKey } = settings;
    const logger = relayLogger(terminal);
    // People read notes. Programs read a single log.
    const screen = io.stderr.isTTY === true ? terminal : screenOfLog(terminal, logger);
    const store = await relayStore(options, io, screen);
    const registry = makeRegistry(hostKey, store, logger);
    let served: ServedRelay | undefined;
    let gateway: Gateway | undefined;
    try {
      if (options.sources.length > 0) {
        const wishes = { starts: true, records: true, keeps: false, cwd: io.cwd, pin: false };
        gateway = await openGateway(registry, { ...wishes, store }, io, screen);
        const world = await openWorld(registry, options, io, screen, {
          gateway,
          serves: false,
          onWatch: () => {},
        });
        world.requireRules();
        const fault = profile === undefined ? undefined : world.profileFault(profile);
        if (fault !== undefined) throw fault;
      } else if (profile !== undefined)
        throw usageFault('A profile needs `--host-tools FILE`, which defines it.');
      served = await untilInterrupted(
        serveRelay({
          ...settings,
          store: store?.store,
          logger,
          session: {
            ...file.session,
            registry,
            profile,
            approvalMode: hostKey === undefined ? undefined : 'suspend',
          },
        }),
        io.signal,
      );
      const { url: address, port } = served;
      const listens = `The relay listens at ${address}`;
      if (io.stderr.isTTY === true) terminal.note(listens);
      else logger.info({ url: address, port }, listens);
      // Programs that start the command wait for this line.
      if (io.stdout.isTTY !== true)
        await writeOut(
          io.stdout,
          `${options.output.json ? jsonText({ url: address, port }) : address}\n`,
        );
      await interrupted(io.signal);
      logger.info({}, 'The relay stops. Running calls have up to ten seconds to end');
      return done;
    } catch (error) {
      throw isInUse(error) ? failure(`${messageOf(error)}. Give another \`--port\`.`) : error;
    } finally {
      await served?.close();
      await registry.close();
      await gateway?.close();
      await store?.close();
    }
  },
};

/** What the nodes share; undefined for a relay in memory. @throws CliFault */
async function relayStore(
  options: Options,
  io: CliIo,
  screen: Screen,
): Promise<RunStore | undefined> {
  const { store, redis } = options;
  if (store !== undefined && redis !== undefined)
    throw usageFault('Give `--store URL`, or `--redis URL` for Redis, and not both.');
  const opened =
    redis === undefined
      ? await openRunStore(options, io, screen, false)
      : await openRunStore(
          { ...options, store: redisAddress(redis, io) },
          io,
          screen,
          false,
          '--redis',
        );
  if (opened === undefined || opened.store !== undefined) return opened;
  throw failure(
    `The folder ${opened.shown} cannot keep the sessions of a relay. Use a store in PostgreSQL, ` +
      'in Redis or in a file of SQLite.',
  );
}

/**
 * If nodes share a store, a suspended call outlives its node. So all nodes need the same approval
 * secret, which comes from the host key.
 */
function makeRegistry(
  hostKey: string | undefined,
  kept: RunStore | undefined,
  logger: RelayLogger,
): HostToolRegistry {
  const store = kept?.store;
  const secret =
    hostKey === undefined || store === undefined
      ? randomBytes(32)
      : createHmac('sha256', hostKey).update('host-tools relay approvals').digest();
  const registry = new HostToolRegistry({
    logger,
    approvals: { secret, store },
    ...kept?.registry,
  });
  // Another node may be asked for the rest of an output.
  outputsOf(registryStateOf(registry)).onDemand = kept?.offload ?? {};
  return registry;
}

/** @throws CliFault 2 */
function keyOf(variable: string, { env }: CliIo): string {
  const key = env[variable];
  if (key === undefined || key === '')
    throw usageFault(
      `\`--host-key\` names the environment variable \`${variable.slice(0, 60)}\`, which is not ` +
        'set. Set it to the key.',
    );
  return key;
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function isInUse(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
}

/**
 * Writes one JSON document per line, with its time. An error, which JSON would leave empty, has its
 * stack.
 */
function relayLogger(screen: Screen): RelayLogger {
  const written = (_: string, value: unknown): unknown =>
    value instanceof Error
      ? { type: value.name, message: value.message, stack: value.stack, cause: value.cause }
      : value;
  const at = (level: string) => (data: object, message?: string) => {
    const line = { level, time: new Date().toISOString(), ...data, msg: message ?? '' };
    screen.note(jsonText(JSON.parse(JSON.stringify(line, written))).replace(/\s*\n\s*/g, ' '));
  };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

/** A screen whose notes are log lines, so that a program can read every line. */
function screenOfLog(screen: Screen, logger: RelayLogger): Screen {
  return { ...screen, note: (text) => logger.warn({}, text) };
}
