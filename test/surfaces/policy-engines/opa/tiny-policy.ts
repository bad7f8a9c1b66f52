/**
 * A compiled policy, assembled by hand. It has the interface of what `opa build -t wasm` writes
 * (the ABI 1.2), but a policy is a list of texts to look for in the input. So the tests need no
 * `opa`.
 */

/** What a policy does once it has found a text. */
export type Does =
  /** Answers a set of results, as JSON text. */
  | { readonly answer: string }
  /** Runs into an instruction that ends it. */
  | 'trap'
  /** Gives up by OPA's own means, with the message "gave up". */
  | 'abort';

/** Looks for `find` in the bytes of the input, or of `data`. `""` is found everywhere. */
export interface Case {
  readonly find: string;
  readonly in?: 'input' | 'data';
  readonly does: Does;
}

export interface TinyPolicy {
  /** For each entry point its cases, the first that fits decides; without one the set is empty. */
  readonly entrypoints: Readonly<Record<string, readonly Case[]>>;
  /** Pages of 64 KB that it wants at least. @default 2 */
  readonly pages?: number;
  /** Leaves out what OPA marks its modules with. @default true */
  readonly marked?: boolean;
}

const i32 = 0x7f;
const op = {
  unreachable: 0x00,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  return: 0x0f,
  call: 0x10,
  localGet: 0x20,
  localSet: 0x21,
  globalGet: 0x23,
  globalSet: 0x24,
  load8: 0x2d,
  const: 0x41,
  eqz: 0x45,
  eq: 0x46,
  ne: 0x47,
  gtU: 0x4b,
  geU: 0x4f,
  add: 0x6a,
  sub: 0x6b,
  memoryGrow: 0x40,
  memorySize: 0x3f,
  shrU: 0x76,
} as const;

/** The bytes of the module. */
export function tinyPolicy({ entrypoints, pages = 2, marked = true }: TinyPolicy): Uint8Array {
  const texts = new Texts();
  const names = Object.keys(entrypoints);
  const builtins = texts.add('{}');
  const entries = texts.add(
    JSON.stringify(Object.fromEntries(names.map((name, at) => [name, at]))),
  );
  const empty = texts.add('[]');
  const gaveUp = texts.add('gave up');

  // Functions: 0 the imported opa_abort, 1 opa_malloc, 2 the same value, 3 opa_json_parse,
  // 4 opa_heap_ptr_get, 5 opa_heap_ptr_set, 6 builtins, 7 entrypoints, 8 find, 9 opa_eval.
  // Globals: 0 the heap, 1 and 2 where `data` begins and how long it is, 3 and 4 the versions.
  const consider = ({ find, in: where = 'input', does }: Case): number[] => {
    const needle = texts.add(find);
    const length = new TextEncoder().encode(find).length;
    const haystack =
      where === 'input' ? [op.localGet, 3, op.localGet, 4] : [op.globalGet, 1, op.globalGet, 2];
    const done =
      does === 'trap'
        ? [op.unreachable]
        : does === 'abort'
          ? [op.const, ...signed(gaveUp), op.call, 0, op.unreachable]
          : [op.const, ...signed(texts.add(does.answer)), op.return];
    return [
      ...haystack,
      ...[op.const, ...signed(needle), op.const, ...signed(length), op.call, 8],
      ...[op.if, 0x40, ...done, op.end],
    ];
  };
  const evaluate = names.flatMap((name, at) => [
    ...[op.localGet, 1, op.const, ...signed(at), op.eq, op.if, 0x40],
    ...(entrypoints[name] as readonly Case[]).flatMap(consider),
    op.end,
  ]);

  const functions: [type: number, locals: number[], code: number[]][] = [
    // opa_malloc(size): the heap only grows; opa_heap_ptr_set takes it back.
    [
      1,
      [1, 1, i32],
      [
        ...[op.globalGet, 0, op.localSet, 1],
        ...[op.globalGet, 0, op.localGet, 0, op.add, op.globalSet, 0],
        ...[op.globalGet, 0, op.memorySize, 0, op.const, ...signed(16), 0x74, op.gtU, op.if, 0x40],
        ...[
          op.localGet,
          0,
          op.const,
          ...signed(16),
          op.shrU,
          op.const,
          1,
          op.add,
          op.memoryGrow,
          0,
          0x1a,
          op.end,
        ],
        ...[op.localGet, 1],
      ],
    ],
    [1, [0], [op.localGet, 0]],
    // opa_json_parse(text, length): the text itself; the last one is `data`.
    [2, [0], [op.localGet, 0, op.globalSet, 1, op.localGet, 1, op.globalSet, 2, op.localGet, 0]],
    [3, [0], [op.globalGet, 0]],
    [4, [0], [op.localGet, 0, op.globalSet, 0]],
    [3, [0], [op.const, ...signed(builtins)]],
    [3, [0], [op.const, ...signed(entries)]],
    // find(text, length, needle, length): local 4 is the place in the text, 5 that in the needle.
    [
      5,
      [1, 2, i32],
      [
        ...[op.loop, 0x40],
        ...[
          op.localGet,
          4,
          op.localGet,
          3,
          op.add,
          op.localGet,
          1,
          op.gtU,
          op.if,
          0x40,
          op.const,
          0,
          op.return,
          op.end,
        ],
        ...[op.const, 0, op.localSet, 5],
        ...[op.block, 0x40, op.loop, 0x40],
        ...[op.localGet, 5, op.localGet, 3, op.eq, op.if, 0x40, op.const, 1, op.return, op.end],
        ...[op.localGet, 0, op.localGet, 4, op.add, op.localGet, 5, op.add, op.load8, 0, 0],
        ...[op.localGet, 2, op.localGet, 5, op.add, op.load8, 0, 0, op.ne, op.brIf, 1],
        ...[op.localGet, 5, op.const, 1, op.add, op.localSet, 5, op.br, 0, op.end, op.end],
        ...[op.localGet, 4, op.const, 1, op.add, op.localSet, 4, op.br, 0, op.end],
        op.unreachable,
      ],
    ],
    // opa_eval(reserved, entry point, data, input, its length, heap, format)
    [6, [0], [...evaluate, op.const, ...signed(empty)]],
  ];
  const heap = 65_536;
  if (texts.end > heap) throw new Error('the texts of the policy are too long');

  const exported: [name: string, kind: number, index: number][] = [
    ...[
      'opa_malloc',
      'opa_json_dump',
      'opa_json_parse',
      'opa_heap_ptr_get',
      'opa_heap_ptr_set',
      'builtins',
      'entrypoints',
    ].map((name, at): [string, number, number] => [name, 0, at + 1]),
    ['opa_eval', 0, 9],
    ...(marked
      ? ([
          ['opa_wasm_abi_version', 3, 3],
          ['opa_wasm_abi_minor_version', 3, 4],
        ] as [string, number, number][])
      : []),
  ];
  const global = (mutable: 0 | 1, value: number): number[] => [
    i32,
    mutable,
    op.const,
    ...signed(value),
    op.end,
  ];

  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [
      type([i32], []),
      type([i32], [i32]),
      type([i32, i32], [i32]),
      type([], [i32]),
      type([i32], []),
      type([i32, i32, i32, i32], [i32]),
      type([i32, i32, i32, i32, i32, i32, i32], [i32]),
    ]),
    ...section(2, [
      [...text('env'), ...text('memory'), 2, 0, ...unsigned(pages)],
      [...text('env'), ...text('opa_abort'), 0, 0],
    ]),
    ...section(
      3,
      functions.map(([of]) => [of]),
    ),
    ...section(6, [global(1, heap), global(1, 0), global(1, 0), global(0, 1), global(0, 2)]),
    ...section(
      7,
      exported.map(([name, kind, index]) => [...text(name), kind, index]),
    ),
    ...section(
      10,
      functions.map(([, locals, code]) => sized([...locals, ...code, op.end])),
    ),
    ...section(11, [[0, op.const, 0, op.end, ...sized(texts.bytes)]]),
  ]);
}

/** Texts in the memory of the module, each with a zero behind it. */
class Texts {
  readonly bytes: number[] = [0];
  get end(): number {
    return this.bytes.length;
  }
  add(text: string): number {
    const at = this.bytes.length;
    this.bytes.push(...new TextEncoder().encode(text), 0);
    return at;
  }
}

function section(id: number, items: readonly (readonly number[])[]): number[] {
  return [id, ...sized([...unsigned(items.length), ...items.flat()])];
}

function type(takes: readonly number[], gives: readonly number[]): number[] {
  return [0x60, takes.length, ...takes, gives.length, ...gives];
}

function text(value: string): number[] {
  return sized([...new TextEncoder().encode(value)]);
}

function sized(bytes: readonly number[]): number[] {
  return [...unsigned(bytes.length), ...bytes];
}

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** LEB128 of a number from 0. */
function signed(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >>> 7)];
}
