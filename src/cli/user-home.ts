/** The home of the user who runs the command. */
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { failure } from './fault.ts';

/**
 * `HOME`, or else the system's value. With a relative path, files would be read and written
 * wherever the command is started, which may be someone else's folder.
 * @throws CliFault
 */
export function userHome(env: Readonly<Record<string, string | undefined>>): string {
  const home = env.HOME ?? homedir();
  if (isAbsolute(home)) return home;
  throw failure(
    `Expected \`HOME\` to be an absolute path, got ${JSON.stringify(home.slice(0, 100))}. Set it ` +
      "to the user's home, or unset it.",
  );
}
