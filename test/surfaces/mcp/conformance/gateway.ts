/** A gateway over servers, as `host-tools serve` makes it of a file. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostToolRegistry } from '../../../../src/index.ts';
import { loadHostTools } from '../../../../src/surfaces/config/index.ts';
import { createGateway, type Gateway } from '../../../../src/surfaces/gateway/gateway.ts';
import { tokenFolder } from '../../../../src/surfaces/gateway/secret-files.ts';
import { cli } from '../../../cli/cli-run.ts';

export interface OpenGateway {
  readonly gateway: Gateway;
  /** Logs in to one of its servers, with the command. @returns what that has said */
  logIn(name: string): Promise<string>;
  close(): Promise<void>;
}

/** Gives a registry the tools of servers, prompts and resources too. */
export async function gatewayOver(
  registry: HostToolRegistry,
  mcpServers: Readonly<Record<string, object>>,
): Promise<OpenGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'host-tools-gateway-'));
  const file = join(folder, 'gateway.json');
  await writeFile(file, JSON.stringify({ mcpServers }));
  const gateway = createGateway(
    registry as unknown as HostToolRegistry<never>,
    { starts: true, records: false, keeps: false, cwd: folder },
    {
      env: {},
      tokens: () => tokenFolder(folder, folder),
      note: () => {},
      random: Math.random,
      later(run, ms) {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
      pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      readPins: async () => undefined,
      writePins: async () => {},
    },
  );
  const { failed } = await loadHostTools(file, registry);
  if (failed.length > 0) throw new Error(JSON.stringify(failed));
  return {
    gateway,
    async logIn(name) {
      let page: Promise<unknown> | undefined;
      const { stdout, stderr } = await cli(['gateway', 'login', name, '--host-tools', file], {
        cwd: folder,
        env: { XDG_STATE_HOME: folder },
        onStderr: (text) => {
          const address = /Open this address to log in: (\S+)/.exec(text)?.[1];
          // The suite's authorization server sends a browser back at once.
          if (address !== undefined) page ??= fetch(address).catch(() => {});
        },
      });
      await page;
      return stdout + stderr;
    },
    async close() {
      await gateway.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
