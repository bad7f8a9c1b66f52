/** The gateway of a run: what the files say about MCP servers and audit logs. */
import { access } from 'node:fs/promises';
import type { HostToolRegistry } from '../core.ts';
import type { Gateway, GatewayOptions } from '../surfaces/gateway/gateway.ts';
import type { CliIo } from './cli-io.ts';
import { failure } from './fault.ts';
import { pinnedOf, readPinFile, writePinFile } from './mcp-pin-file.ts';
import type { Screen } from './screen.ts';
import { userHome } from './user-home.ts';

/** Makes the gateway of a registry, before any file is loaded. */
export async function openGateway(
  registry: HostToolRegistry,
  options: GatewayOptions & { readonly pin: boolean },
  io: CliIo,
  screen: Screen,
): Promise<Gateway> {
  const { createGateway } = await import('../surfaces/gateway/gateway.ts');
  const { tokenFolder } = await import('../surfaces/gateway/secret-files.ts');
  return createGateway(registry as unknown as HostToolRegistry<never>, options, {
    env: io.env,
    tokens: () => tokenFolder(io.env.XDG_STATE_HOME, userHome(io.env)),
    note: screen.note,
    random: Math.random,
    later(run, ms) {
      const timer = setTimeout(run, ms);
      // A server that is tried again later must not keep the process alive.
      timer.unref();
      return () => clearTimeout(timer);
    },
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    async readPins(path) {
      const exists = await access(path).then(
        () => true,
        () => false,
      );
      if (exists)
        return Object.fromEntries(
          [...(await readPinFile(path, io))].map(([name, pin]) => [name, pin.fingerprint]),
        );
      if (options.pin) return undefined;
      throw failure(
        `There is no file \`${path}\` of accepted definitions. Write it with \`host-tools mcp ` +
          'pin`, or start once with `serve --pin`.',
      );
    },
    async writePins(path, imported) {
      const pins = imported.tools.flatMap(({ name }) => {
        const found = imported.found(name);
        return found === undefined ? [] : [[name, pinnedOf(found)] as const];
      });
      await writePinFile(path, new Map(pins), io);
      screen.note(`Wrote ${pins.length} accepted definitions to ${path}.`);
    },
  });
}
