/** The command that puts a process into namespaces of its own, with bubblewrap. */
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { unavailableFault } from './fault.ts';
import { moduleReads, type ReadPermissions } from './permissions.ts';

/** What the system has that any program needs. */
const system = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc', '/opt'];

/**
 * The command up to the program that it runs. In there, only what the permissions name exists beside
 * the system's own programs, and no process outside can be seen.
 * @throws an error that ends the call as `sandbox_unavailable` if bubblewrap is not installed
 */
export function bubblewrapCommand(
  file: string,
  cwd: string,
  { read, write }: ReadPermissions,
  path = process.env.PATH ?? '',
): readonly string[] {
  const program = path
    .split(delimiter)
    .map((folder) => join(folder, 'bwrap'))
    .find((candidate) => existsSync(candidate));
  if (process.platform !== 'linux' || program === undefined)
    throw unavailableFault(
      'sandbox_unsupported',
      "The tool's sandbox could not be started: it needs bubblewrap (`bwrap`), which is not " +
        'installed here.',
    );
  const { files, folders } = moduleReads(file);
  const args = ['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-uts'];
  args.push('--unshare-cgroup-try', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp');
  for (const one of [...system, dirname(process.execPath)]) args.push('--ro-bind-try', one, one);
  for (const one of [...folders, ...files, ...read]) args.push('--ro-bind-try', one, one);
  for (const one of write) args.push('--bind', one, one);
  return [program, ...args, '--chdir', cwd, '--'];
}
