/** The options of all commands. */

/** One option. */
export interface OptionRow {
  /** How help shows the value; absent for a switch. */
  readonly value?: string;
  /** The short name, without its dash. */
  readonly short?: string;
  /** Can be given several times. */
  readonly repeatable?: true;
  /** A switch that may have a value after `=`. */
  readonly optionalValue?: true;
  /**
   * What the command does with the file that the value names: `log` appends to it. A value that is
   * read may be `@FILE`.
   */
  readonly file?: 'read' | 'write' | 'log';
  readonly help: string;
}

/** Every option of every command. */
export const optionTable = {
  'host-tools': {
    value: 'FILE',
    repeatable: true,
    file: 'read',
    help:
      'load tools, MCP servers, profiles, rules and quotas from a YAML or JSON file; ' +
      'repeatable',
  },
  'host-tools-module': {
    value: 'MOD',
    repeatable: true,
    file: 'read',
    help: 'load tools from a module: a path or a package; repeatable',
  },
  profile: { value: 'NAME', help: 'use this profile' },
  facts: {
    value: 'JSON|@FILE|-',
    file: 'read',
    help: 'facts of the session, such as \'{"hostSession.status":"ready"}\'',
  },
  input: {
    value: 'JSON|@FILE|-',
    file: 'read',
    help: 'arguments of the call: JSON, a file, or standard input; default {}',
  },
  'timeout-ms': {
    value: 'N',
    help: "end a call after N milliseconds; can only shorten the tool's own timeout",
  },
  audit: { value: 'FILE', file: 'log', help: 'append a line for each call to this audit log' },
  http: {
    value: '[HOST:]PORT',
    help: 'serve over HTTP at this address instead of stdio; the default host is 127.0.0.1',
  },
  issuer: {
    value: 'URL',
    help: 'with --http: require tokens of this issuer, as `authorization` of a file does',
  },
  audience: { value: 'TEXT', help: 'with --issuer: this server, as tokens name it' },
  'jwks-url': {
    value: 'URL',
    help: "with --issuer: where its keys are; default: what the issuer's metadata says",
  },
  scopes: {
    value: 'NAME,NAME',
    help: 'with --issuer: the scopes that a client asks for at first',
  },
  metrics: { help: 'also serve metrics of the calls for Prometheus, at /metrics' },
  principal: {
    value: 'NAME',
    help: 'whom the calls act for; default: your user name on this system',
  },
  pin: { help: 'write the first listing of a server to its `pins`, if that file does not exist' },
  port: {
    value: 'N',
    help: 'listen on this port; default 4040; 0 is any free port',
  },
  'allow-calls': { help: 'let the page call tools, under a profile of its choice' },
  host: { value: 'ADDRESS', help: 'listen on this address; default 127.0.0.1' },
  redis: {
    value: 'URL|VARIABLE',
    help: 'the same as --store, for an address of Redis',
  },
  store: {
    value: 'URL|VARIABLE',
    help:
      'keep data here, instead of in the `store` of files: postgres://…, redis://…, ' +
      'sqlite:./state.db or file:./folder',
  },
  queue: { value: 'NAME', help: "the queue with the fleet's calls" },
  concurrency: {
    value: 'N',
    help: 'how many calls run at a time, from 1 to 10000; 8 if not given',
  },
  'host-key': {
    value: 'VARIABLE',
    help: 'require the key in this variable for new sessions; its owner can answer approvals',
  },
  'allowed-origin': {
    value: 'ORIGIN',
    repeatable: true,
    help: "allow browser pages of this origin, or of all with '*'; repeatable",
  },
  'allow-origin': { value: 'ORIGIN', repeatable: true, help: 'the same as --allowed-origin' },
  'allowed-host': {
    value: 'NAME',
    repeatable: true,
    help: 'answer requests for this host, such as relay.example.com; repeatable',
  },
  'trust-proxy': {
    optionalValue: true,
    help: 'take the client from X-Forwarded-For of one proxy; with --trust-proxy=N of N proxies',
  },
  ttl: { value: 'SECONDS', help: 'how long a session lives; default 3600' },
  'max-ttl': {
    value: 'SECONDS',
    help: 'how long a session lives at most, when the host extends it; default 86400',
  },
  lease: {
    value: 'MS',
    help: 'milliseconds that an application may be away before its calls end; default 10000',
  },
  'request-timeout': {
    value: 'MS',
    help: 'milliseconds that an application has to answer a call; default 30000',
  },
  limit: {
    value: 'NAME=N',
    repeatable: true,
    help: 'change a limit of the relay, such as requestsPerMinute=120; repeatable',
  },
  'max-connections': { value: 'N', help: 'open connections at a time; default 10000' },
  pairing: { help: "let each side trade a session's code for a token, once" },
  pins: {
    value: 'FILE',
    file: 'write',
    help: 'the file of accepted definitions; created if it does not exist',
  },
  accept: {
    value: 'NAME',
    repeatable: true,
    help: 'accept this tool as the server gives it now; repeatable',
  },
  yes: { help: 'do not ask about the tools that `--accept` names' },
  prefix: { value: 'TEXT', help: "put this before each of the server's names" },
  env: {
    value: 'NAME',
    repeatable: true,
    help: 'pass this environment variable on to the server; repeatable',
  },
  header: {
    value: 'NAME=VARIABLE',
    repeatable: true,
    help: 'send this header with the value of an environment variable; repeatable',
  },
  'client-id': {
    value: 'ID',
    help: 'sign in as this client, which you have registered; default: registers a new one',
  },
  'client-secret': {
    value: 'VARIABLE',
    help: "with --client-id: the environment variable with the client's secret",
  },
  head: {
    value: 'HASH',
    repeatable: true,
    help:
      'a hash that the log once had, stored elsewhere; reveals lines that were cut off the end; ' +
      'repeatable',
  },
  'key-file': {
    value: 'KEY',
    file: 'read',
    help: "the file with the log's key; a line break at its end is ignored",
  },
  html: {
    value: 'OUT',
    file: 'write',
    help: 'write the report to this file, as one page with charts',
  },
  config: {
    value: 'JSON|@FILE|-',
    file: 'read',
    help: 'the configuration with which modules are mounted; default {}',
  },
  'no-calls': { help: 'do not call the tools that are validated' },
  from: { value: 'FILE|-', file: 'read', help: 'the recorded calls: a file, or standard input' },
  rules: { value: 'FILE', file: 'read', help: 'a YAML or JSON file with the new rules' },
  print: { help: 'print what would be written, and change nothing' },
  'cancel-unasked': {
    help: "cancel the agent's turn when it makes a call unasked that the rules refuse",
  },
  'fail-on': {
    value: 'EFFECT',
    help: 'end with exit code 1 if a call changes to this: allow, ask or deny',
  },
  coverage: { help: 'list the rules that no case exercises' },
  'fail-under': {
    value: 'N',
    help:
      'with --coverage: end with exit code 1 if cases exercise less than N percent of the ' +
      'rules',
  },
  top: { value: 'N', help: 'the most tools that a search returns, from 1 to 100; default 8' },
  verbose: { help: 'show whole stacks of errors that tools and modules throw, with their causes' },
  json: { help: 'print one JSON document' },
  help: { short: 'h', help: 'show this help, or the help of a command' },
  version: { short: 'V', help: 'show the version' },
} as const satisfies Readonly<Record<string, OptionRow>>;

/** An option's name, without its dashes. */
export type OptionName = keyof typeof optionTable;
