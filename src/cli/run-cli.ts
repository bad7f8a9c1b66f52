/** One run of the command line. Everything that it touches is passed in. */
import { randomBytes } from 'node:crypto';
import { registryStateOf } from '../core/registry/state-of.ts';
import { isMisuseError } from '../core.ts';
import { HostToolRegistry } from '../index.ts';
import { outputsOf } from '../parts/offload/outputs-of.ts';
import type { Gateway } from '../surfaces/gateway/gateway.ts';
import { messageOf } from '../values/errors/index.ts';
import { packageVersion } from '../values/packages/own-version.ts';
import { type CliIo, writeOut } from './cli-io.ts';
import type { Command } from './command.ts';
import { commands } from './commands.ts';
import { CliFault, failure, usageFault } from './fault.ts';
import {
  checkOptions,
  commandHelp,
  commandHelpJson,
  generalHelp,
  generalHelpJson,
  groupHelp,
  unknownOption,
  usageOf,
} from './help.ts';
import { openGateway } from './open-gateway.ts';
import { type OptionName, type OptionRow, optionTable } from './option-table.ts';
import { meant, type Options, parseLine } from './options.ts';
import { jsonText } from './printable.ts';
import { registryLogger } from './registry-logger.ts';
import { requirePackages } from './required-packages.ts';
import { requireSafeOutputs } from './safe-outputs.ts';
import { createScreen, type Screen } from './screen.ts';
import { kindOfFile, optionOf } from './sources.ts';
import { openRunStore } from './store/kept-store.ts';
import { openWorld, type World } from './world.ts';

/** Milliseconds that clean-ups of tools have at the end of a run. */
const graceMs = 5_000;

/** What a command line asks for: a text, such as help, or a command. */
type Order =
  | {
      readonly kind: 'say';
      readonly text: string;
      readonly json: unknown;
      readonly asJson: boolean;
    }
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly operands: readonly string[];
      readonly options: Options;
    };

/**
 * Runs one command line. Writes the answer to `io.stdout` and everything else to `io.stderr`,
 * closes what it has opened, and never rejects.
 * @param argv The words after the program's name.
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const screen = createScreen(io);
  io.onScreen?.(screen.note);
  try {
    const order = await understand(argv, io);
    if (order.kind === 'say') {
      await print(io, order.asJson ? jsonText(order.json) : order.text);
      return 0;
    }
    await requirePackages(order.command, order.options, argv, io.cwd);
    return await execute(order, io, screen);
  } catch (error) {
    screen.clear();
    screen.note(`host-tools: ${messageOf(error)}`);
    return error instanceof CliFault ? error.exit : 1;
  }
}

async function understand(argv: readonly string[], { cwd }: CliIo): Promise<Order> {
  const { words, options, given, unknown, files } = parseLine(argv);
  if (unknown !== undefined)
    throw unknownOption(unknown, commandOf(words[0] === 'help' ? words.slice(1) : words), commands);
  const say = (text: string, json: unknown): Order => ({
    kind: 'say',
    text,
    json,
    asJson: options.output.json,
  });
  if (options.version) {
    const version = packageVersion;
    return say(version, { version });
  }
  const helps = words[0] === 'help';
  const named = helps ? words.slice(1) : words;
  if (named.length === 0) {
    if (helps || options.help) return say(generalHelp(commands), generalHelpJson(commands));
    throw usageFault(
      `Expected a command: ${commands.map(({ name }) => name).join(', ')}. Run \`host-tools ` +
        `--help\` to see what each command does.`,
    );
  }
  const group = commandOf(named) === undefined ? groupOf(named) : [];
  if ((helps || options.help) && named.length === 1 && group.length > 0)
    return say(groupHelp(named[0] as string, group), generalHelpJson(group));
  const command = findCommand(named);
  if (helps || options.help) return say(commandHelp(command), commandHelpJson(command));
  const operands = named.slice(command.name.split(' ').length);
  checkOperands(command, operands, given);
  checkOptions(command, given, commands);
  if (options.input === '-' && options.session.facts === '-')
    throw usageFault(
      'Standard input can be read only once. Give `--input` or `--facts` as JSON or `@file`.',
    );
  const { writes } = command;
  requireSafeOutputs(
    [
      ...files,
      ...operands.map((path) => ({ name: 'a word', path, use: 'read' as const })),
      ...(writes === undefined
        ? []
        : [{ name: command.name, path: writes, use: 'write' as const }]),
    ],
    cwd,
  );
  return { kind: 'run', command, operands, options: withWord(command, operands, options) };
}

/** The options with the file that a word names, before the others. */
function withWord(command: Command, [word]: readonly string[], options: Options): Options {
  if (command.loadsWord !== true || word === undefined) return options;
  const source = { kind: kindOfFile(word) ?? ('file' as const), name: word };
  return { ...options, sources: [source, ...options.sources] };
}

function commandOf(words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((part, at) => words[at] === part));
}

/** The commands of several words that begin with this one, such as `gateway`. */
function groupOf([word = '']: readonly string[]): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

/** @throws CliFault 2 */
function findCommand(words: readonly string[]): Command {
  const found = commandOf(words);
  if (found !== undefined) return found;
  const names = commands.map(({ name }) => name);
  const [word = '', second] = words;
  const group = groupOf(words);
  if (group.length > 0)
    throw usageFault(
      `Expected ${group.map(({ name }) => `\`${name}\``).join(' or ')}, got ` +
        `\`${second === undefined ? word : `${word} ${second}`}\`. Run \`host-tools help ` +
        `${word}\`.`,
    );
  const near = meant(word, names);
  throw usageFault(
    `Unknown command \`${word}\`. ` +
      `${near === '' ? `Commands are ${names.join(', ')}. ` : near}Run \`host-tools --help\` ` +
      'to see what each command does.',
  );
}

function checkOperands(
  command: Command,
  operands: readonly string[],
  given: ReadonlySet<OptionName>,
): void {
  const { name, operands: wanted, many = false } = command;
  const missing = wanted[operands.length];
  if (missing !== undefined && !missing.startsWith('['))
    throw usageFault(`\`${name}\` needs ${missing}: \`host-tools ${usageOf(command)}\`.`);
  const extra = many ? undefined : operands[wanted.length];
  if (extra === undefined) return;
  const kind = command.options.includes('host-tools') ? kindOfFile(extra) : undefined;
  const numbered = /^\d+$/.test(extra)
    ? command.options.find((one) => given.has(one) && takesNumber(one))
    : undefined;
  let remedy = `\`host-tools ${usageOf(command)}\``;
  if (kind !== undefined) remedy = `give the ${kind} with \`${optionOf[kind]} ${extra}\``;
  // The number after a switch is a word of its own.
  if (numbered !== undefined) remedy = `give the number with \`--${numbered}=${extra}\``;
  // The address of a store may have a password.
  const shown = extra.replace(/^([a-z]+:\/\/)[^/]*@/i, '$1…@');
  throw usageFault(
    `\`${name}\` takes ${wanted.length === 0 ? 'no words' : wanted.join(' ')}, but also got ` +
      `\`${shown}\`: ${remedy}.`,
  );
}

/** Whether an option is a switch that may have a number after `=`. */
function takesNumber(option: OptionName): boolean {
  const { optionalValue }: OptionRow = optionTable[option];
  return optionalValue === true;
}

/** Longer than 60 lines, since its `finally` closes in order what the lines above it open. */
async function execute(
  { command, operands, options }: Extract<Order, { kind: 'run' }>,
  io: CliIo,
  screen: Screen,
): Promise<number> {
  const { records = false, serves = false } = command.gateway ?? {};
  const store =
    command.keeps === true ? await openRunStore(options, io, screen, serves) : undefined;
  // Unless a file says where they are kept, suspended calls end with this process, so no other
  // process needs the key.
  const registry = new HostToolRegistry({
    graceMs,
    default: command.fallback,
    logger: registryLogger(screen, io.cwd, options.output.verbose),
    approvals: { secret: randomBytes(32) },
    ...store?.registry,
  });
  outputsOf(registryStateOf(registry)).onDemand = store?.offload ?? {};
  let opening: Promise<World> | undefined;
  let gateway: Gateway | undefined;
  const watches: (() => void)[] = [];
  const open = async (): Promise<World> => {
    gateway = await openGateway(
      registry,
      { starts: true, records, keeps: serves, cwd: io.cwd, pin: options.mcp.pin, store },
      io,
      screen,
    );
    const onWatch = (close: () => void): void => void watches.push(close);
    const world = await openWorld(registry, options, io, screen, { gateway, serves, onWatch });
    if (store !== undefined) {
      world.requireRules();
      // Over HTTP, the sessions of clients are kept as well.
      store.requireUse(registry, gateway, serves && options.listen.http === undefined);
    }
    return world;
  };
  try {
    const {
      exit,
      text,
      json,
      silent = false,
    } = await command.run({
      io,
      screen,
      options,
      operands,
      store,
      world: () => {
        opening ??= open();
        return opening;
      },
    });
    screen.clear();
    // The answer is printed before anything is closed, because a clean-up that hangs must not hold
    // it back.
    if (!silent) await print(io, options.output.json ? jsonText(json) : text);
    return exit;
  } catch (error) {
    if (error instanceof CliFault) throw error;
    // A mistake that the core refuses, such as facts that are too deep, came from the command line.
    // A package that is not installed did not.
    throw isMisuseError(error) && error.code !== 'missing_dependency'
      ? usageFault(error.message)
      : failure(messageOf(error));
  } finally {
    for (const close of watches) close();
    await registry.close();
    // Calls are recorded until the registry is closed.
    await gateway?.close();
    await store?.close();
  }
}

function print({ stdout }: CliIo, text: string): Promise<void> {
  return writeOut(stdout, `${text}\n`).catch((error: unknown) => {
    throw failure(`Cannot write to standard output: ${messageOf(error)}`);
  });
}
