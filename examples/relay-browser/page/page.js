/**
 * A to-do list for people and agents: what its buttons do, its tools do. With a bundler the import
 * is `host-tools/relay/client`; here the server gives the module.
 */
import { connectRelay } from './relay-client.js';

const byId = (id) => document.getElementById(id);
const maxItems = 500;

/** The list. It outlives a reload of the page. */
let items = JSON.parse(sessionStorage.getItem('items') ?? '[]');
let filter = 'all';
let connection;

// What can be done. Each action is a button's and a tool's.

const shown = (wanted) =>
  items.filter(({ done }) => wanted === 'all' || done === (wanted === 'done'));

function add(text) {
  if (items.length >= maxItems)
    throw new Error(`The list is full: it has ${maxItems} items. Clear what is done first.`);
  const item = { id: Math.max(0, ...items.map(({ id }) => id)) + 1, text, done: false };
  change([...items, item]);
  return item;
}

function markDone(id, done) {
  const item = items.find((one) => one.id === id);
  if (item === undefined)
    throw new Error(`There is no item ${id}. See list_items for those that there are.`);
  change(items.map((one) => (one === item ? { ...one, done } : one)));
  return { ...item, done };
}

function clearDone() {
  const cleared = shown('done').length;
  change(shown('open'));
  return { cleared };
}

function show(wanted) {
  filter = wanted;
  render();
  return { items: shown(filter) };
}

/** As CSV. */
const exported = () =>
  [
    'id,done,text',
    ...items.map(({ id, done, text }) => `${id},${done},"${text.replaceAll('"', '""')}"`),
  ].join('\r\n');

function change(next) {
  items = next;
  sessionStorage.setItem('items', JSON.stringify(items));
  render();
  offer();
}

// For agents.

const filters = { type: 'string', enum: ['all', 'open', 'done'] };
const object = (properties, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const item = object({
  id: { type: 'integer' },
  text: { type: 'string' },
  done: { type: 'boolean' },
});

/** The tools of this moment: what cannot be done now is not offered. */
function tools() {
  return [
    {
      name: 'list_items',
      description: 'The items of the to-do list, whatever the page shows of it.',
      parameters: object({ filter: filters }, []),
      outputSchema: object({ items: { type: 'array', items: item } }),
      annotations: { readOnly: true },
      handler: ({ filter: wanted = 'all' }) => ({ items: shown(wanted) }),
    },
    {
      name: 'add_item',
      description: 'Adds an item to the end of the to-do list.',
      parameters: object({ text: { type: 'string', minLength: 1, maxLength: 200 } }),
      handler: ({ text }) => add(text),
    },
    {
      name: 'mark_done',
      description: 'Marks an item as done, or as not done.',
      parameters: object(
        { id: { type: 'integer', minimum: 1 }, done: { type: 'boolean', default: true } },
        ['id'],
      ),
      annotations: { idempotent: true },
      handler: ({ id, done = true }) => markDone(id, done),
    },
    {
      name: 'show_items',
      description: 'Chooses which items the page shows to the person in front of it.',
      parameters: object({ filter: filters }),
      annotations: { idempotent: true },
      handler: ({ filter: wanted }) => show(wanted),
    },
    {
      name: 'export_items',
      description: 'The whole list as CSV.',
      parameters: object({}),
      annotations: { readOnly: true },
      handler: exported,
    },
    ...(shown('done').length === 0
      ? []
      : [
          {
            name: 'clear_done',
            description: 'Removes the items that are done, for good.',
            parameters: object({}),
            annotations: { destructive: true },
            handler: clearDone,
          },
        ]),
  ];
}

/**
 * Tells the relay which tools there are now. It sends only what differs, waits where the relay is
 * away or limits updates, and rejects what `onStatus` has told.
 */
function offer() {
  connection?.update(tools(), 'the list has changed');
}

/** @param init of the request for the session: a POST begins a new one if the last one is over */
async function connect(init = {}) {
  const answer = await fetch('session', init);
  if (!answer.ok) throw new Error(`There is no session: HTTP ${answer.status}.`);
  const { url, code, token } = await answer.json();
  const transport = new URLSearchParams(location.search).get('transport') ?? 'auto';
  connection = await connectRelay({
    url,
    code,
    token,
    transport,
    tools: tools(),
    onStatus: tell,
    pluginType: 'to-do',
    pluginVersion: '1.0.0',
  });
  // What has changed while it connected.
  offer();
}

// For people.

const reasons = {
  replaced: 'another page has taken over',
  session_expired: 'the session has expired',
  session_closed: 'the session was ended',
  session_not_found: 'the session is over',
};

function tell({ status, transport, error, reason }) {
  const why = (Object.hasOwn(reasons, reason ?? '') && reasons[reason]) || error?.message;
  const output = byId('status');
  output.value = [
    status,
    transport && `(${transport})`,
    status !== 'connected' && why && `: ${why}`,
  ]
    .filter(Boolean)
    .join(' ')
    .replace(' :', ':');
  output.dataset.status = status;
  offerWayBack(status === 'closed' ? reason : undefined);
}

/** A person decides: pages that come back by themselves would replace each other for ever. */
function offerWayBack(reason) {
  const again = byId('again');
  again.hidden = reason === undefined;
  again.disabled = false;
  const isReplaced = reason === 'replaced' && connection !== undefined;
  again.textContent = isReplaced ? 'Take the session back' : 'Start a new session';
  again.onclick = () => {
    again.disabled = true;
    // `onStatus` tells what comes of it.
    if (isReplaced) connection.reconnect().catch(() => {});
    else start({ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' });
  };
}

function start(init) {
  connection = undefined;
  connect(init).catch((error) => tell({ status: 'closed', error, reason: error.code ?? 'failed' }));
}

function render() {
  byId('items').replaceChildren(
    ...shown(filter).map(({ id, text, done }) => {
      const box = Object.assign(document.createElement('input'), {
        type: 'checkbox',
        checked: done,
      });
      box.addEventListener('change', () => markDone(id, box.checked));
      const label = document.createElement('label');
      // As text: it may come from an agent.
      label.append(box, ` ${text}`);
      const line = document.createElement('li');
      line.append(label);
      return line;
    }),
  );
  byId('filter').value = filter;
  byId('clear').hidden = shown('done').length === 0;
}

byId('add').addEventListener('submit', (event) => {
  event.preventDefault();
  const text = byId('text');
  try {
    add(text.value);
    text.value = '';
  } catch (error) {
    alert(error.message);
  }
});
byId('filter').addEventListener('change', () => show(byId('filter').value));
byId('clear').addEventListener('click', clearDone);
byId('export').addEventListener('click', () => {
  const href = URL.createObjectURL(new Blob([exported()], { type: 'text/csv' }));
  Object.assign(document.createElement('a'), { href, download: 'to-do.csv' }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1_000);
});

render();
start();
