/** The command line of bubblewrap, which puts a process into namespaces of its own. */
import { existsSync } from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';
import { MisuseError } from '../../values/errors/index.ts';
import { unavailableFault } from './fault.ts';
import { moduleReads, type ReadPermissions } from './permissions.ts';

/**
 * The files of the system that programs need. From `/etc` there are only files without secrets,
 * because the host's process may run as root.
 */
const system = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  // Libraries and programs.
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  // Names of users, hosts and services.
  '/etc/group',
  '/etc/passwd',
  '/etc/gai.conf',
  '/etc/host.conf',
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/protocols',
  '/etc/resolv.conf',
  '/etc/services',
  // Certificates of authorities, in the places of several distributions.
  '/etc/ca-certificates/extracted',
  '/etc/pki/ca-trust/extracted',
  '/etc/pki/tls/certs',
  '/etc/ssl/cert.pem',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  // Time, types and fonts.
  '/etc/fonts',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/timezone',
];

/** Folders that bubblewrap makes itself. Root could write to them. */
const made = ['/dev', '/proc', '/'];

/**
 * Refuses a working directory that will not exist inside.
 * @throws MisuseError `invalid_option`
 */
export function checkBubblewrapCwd(
  where: string,
  file: string,
  cwd: string,
  { read, write }: ReadPermissions,
): void {
  const isIn = (folder: string, path: string): boolean =>
    path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
  const { folders } = moduleReads(file);
  const seen = [
    ...system,
    '/dev',
    '/proc',
    dirname(process.execPath),
    ...folders,
    ...read,
    ...write,
  ];
  // Bubblewrap also makes the folders above what is visible. They hold nothing else.
  if (seen.some((one) => isIn(one, cwd) || isIn(cwd, one))) return;
  throw new MisuseError(
    'invalid_option',
    `${where}: expected \`cwd\` to be a folder that the handler may read, got \`${cwd}\`, which ` +
      'does not exist in bubblewrap. Add it to `permissions.fs.read`, or leave `cwd` out.',
  );
}

/**
 * Signals that are meant for the host and would also end bubblewrap. It ignores them if they are
 * already ignored when it starts.
 */
const ignoring = ['/bin/sh', '-c', 'trap "" HUP INT QUIT TERM; exec "$@"', 'host-tools-sandbox'];

/**
 * The command line up to the program that it runs. Inside, there are only the system's own
 * programs and what the permissions name, and no process outside is visible.
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
  // Without this, root keeps its rights, and could make a folder writable again.
  args.push('--unshare-cgroup-try', '--cap-drop', 'ALL', '--proc', '/proc', '--dev', '/dev');
  for (const one of [...system, dirname(process.execPath)]) args.push('--ro-bind-try', one, one);
  for (const one of [...folders, ...files, ...read]) args.push('--ro-bind-try', one, one);
  for (const one of write) args.push('--bind', one, one);
  for (const one of made) args.push('--remount-ro', one);
  return [...ignoring, program, ...args, '--chdir', cwd, '--'];
}
