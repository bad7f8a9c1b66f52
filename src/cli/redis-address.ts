/** The address in `--redis`. */
import { messageOf } from '../values/errors/index.ts';
import type { CliIo } from './cli-io.ts';
import { type CliFault, failure, usageFault } from './fault.ts';

/**
 * @param given an address, or the name of an environment variable that has one
 * @throws CliFault 2 if there is no address of Redis
 */
export function redisAddress(given: string, io: CliIo): string {
  const url = addressOf(given, io);
  // An address may hold a password, so it is never shown.
  if (URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol)) return url;
  throw usageFault(
    'Expected `--redis` to be an address such as `redis://127.0.0.1:6379`, or the name of an ' +
      'environment variable that has one.',
  );
}

/** @throws CliFault 2 */
function addressOf(given: string, { env }: CliIo): string {
  if (!/^\w+$/.test(given)) return given;
  const address = env[given];
  if (address !== undefined && address !== '') return address;
  throw usageFault(
    `\`--redis\` names the environment variable \`${given.slice(0, 60)}\`, which is not set. Set ` +
      'it to an address such as `redis://127.0.0.1:6379`.',
  );
}

/** @param error what the client rejected with */
export function redisFailure(error: unknown): CliFault {
  const why = (error as { code?: string }).code ?? messageOf(error);
  return failure(`Cannot reach Redis: ${why.replace(/\.+$/, '')}.`);
}
