/**
 * Twenty tasks in an office, as the programs that a model might write for them, and the tools that
 * they need. A task that is done by single calls makes the same calls.
 */
import { z } from 'zod';
import { type AnyTool, defineTool } from '../../src/index.ts';

const names = 'ann bob cem dora eve finn gil hana ivo jun kim lea'.split(' ');
const customers = names.map((name, at) => ({
  id: `c${at + 1}`,
  name,
  email: `${name}@example.com`,
  city: ['Bern', 'Oslo', 'Kyiv', 'Lima'][at % 4],
  since: 2015 + (at % 9),
  notes: `Prefers mail. Last visit on day ${at * 7}. Asked about delivery times twice.`,
}));
const orders = Array.from({ length: 60 }, (_, at) => ({
  id: at + 1,
  customer: `c${(at % customers.length) + 1}`,
  total: 10 + ((at * 37) % 190),
  status: ['paid', 'open', 'late', 'sent'][at % 4],
  items: [{ sku: `s${at % 15}`, count: 1 + (at % 3) }],
  shipping: { carrier: at % 2 === 0 ? 'post' : 'bike', note: 'Leave it at the door, please.' },
}));
const files = Array.from({ length: 24 }, (_, at) => ({
  path: `notes/${['plan', 'log', 'todo'][at % 3]}-${at}.md`,
  size: 100 + at * 13,
  text: `# Note ${at}\n${'A line about nothing much.\n'.repeat(6)}${at % 5 === 0 ? 'TODO: call back\n' : ''}`,
}));

const tool = <Shape extends z.ZodRawShape>(
  name: string,
  description: string,
  shape: Shape,
  handler: (input: z.infer<z.ZodObject<Shape>>) => unknown,
): AnyTool<unknown> =>
  defineTool({
    name,
    description,
    parameters: z.object(shape),
    handler: handler as never,
  }) as AnyTool<unknown>;

const id = z.string().describe('The id of a customer, such as c1.');

export const tools: readonly AnyTool<unknown>[] = [
  tool('list_customers', 'Lists all customers.', {}, () => customers),
  tool('get_customer', 'Gets a customer.', { id }, (input) =>
    customers.find((one) => one.id === input.id),
  ),
  tool('search_orders', 'Finds the orders of a customer.', { customer: id }, ({ customer }) =>
    orders.filter((one) => one.customer === customer),
  ),
  tool(
    'get_order',
    'Gets an order with its items.',
    { id: z.number().describe('The number of the order.') },
    (input) => orders.find((one) => one.id === input.id),
  ),
  tool(
    'set_status',
    'Changes the status of an order.',
    { id: z.number(), status: z.enum(['paid', 'open', 'late', 'sent']) },
    ({ id: order, status }) => ({ id: order, status }),
  ),
  tool(
    'stock_of',
    'Tells how many pieces of an article are in stock.',
    { sku: z.string().describe('The number of the article, such as s3.') },
    ({ sku }) => ({ sku, pieces: (Number(sku.slice(1)) * 7) % 20 }),
  ),
  tool(
    'send_mail',
    'Sends a mail.',
    { to: z.string(), subject: z.string(), text: z.string() },
    ({ to }) => ({ sent: true, to }),
  ),
  tool('list_files', 'Lists the files of a folder.', { folder: z.string() }, () =>
    files.map(({ path, size }) => ({ path, size })),
  ),
  tool(
    'read_file',
    'Reads a file.',
    { path: z.string() },
    (input) => files.find((one) => one.path === input.path)?.text,
  ),
  tool(
    'write_file',
    'Writes a file.',
    { path: z.string(), text: z.string() },
    ({ path, text }) => ({ path, chars: text.length }),
  ),
  tool(
    'rate_of',
    'Tells the rate of a currency to the euro.',
    { currency: z.string().describe('Three letters, such as USD.') },
    ({ currency }) => ({ currency, rate: currency.charCodeAt(0) / 70 }),
  ),
  tool('weather_in', 'Tells the weather of a city.', { city: z.string() }, ({ city }) => ({
    city,
    degrees: city.length * 3,
    text: 'Clouds in the morning, sun later, and little wind from the west.',
  })),
];

/** What is done, and the program that does it. */
export const tasks: Readonly<Record<string, string>> = {
  'one order': `return (await tools.get_order({ id: 7 })).status;`,
  'the city of a customer': `return (await tools.get_customer({ id: 'c3' })).city;`,
  'weather in three cities': `const all = await Promise.all(['Bern', 'Oslo', 'Lima'].map((city) => tools.weather_in({ city })));
return Math.max(...all.map(({ degrees }) => degrees));`,
  'late orders of one customer': `const orders = await tools.search_orders({ customer: 'c3' });
return orders.filter(({ status }) => status === 'late').map(({ id }) => id);`,
  'what a customer has spent': `const orders = await tools.search_orders({ customer: 'c5' });
return orders.reduce((sum, { total }) => sum + total, 0);`,
  'what each customer has spent': `const out = {};
for (const { id, name } of await tools.list_customers({}))
  out[name] = (await tools.search_orders({ customer: id })).reduce((sum, { total }) => sum + total, 0);
return out;`,
  'the best customer': `const customers = await tools.list_customers({});
const sums = await Promise.all(customers.map(async ({ id, name }) =>
  [name, (await tools.search_orders({ customer: id })).reduce((sum, { total }) => sum + total, 0)]));
return sums.sort((a, b) => b[1] - a[1])[0];`,
  'mark late orders as open': `const orders = await tools.search_orders({ customer: 'c4' });
const late = orders.filter(({ status }) => status !== 'open');
await Promise.all(late.map(({ id }) => tools.set_status({ id, status: 'open' })));
return late.length;`,
  'remind who is late': `let count = 0;
for (const { id, email } of await tools.list_customers({})) {
  const late = (await tools.search_orders({ customer: id })).filter(({ status }) => status === 'late');
  if (late.length === 0) continue;
  await tools.send_mail({ to: email, subject: 'Your order', text: 'Open: ' + late.map((one) => one.id).join(', ') });
  count++;
}
return count;`,
  'articles that run out': `const order = await tools.get_order({ id: 12 });
const stock = await Promise.all(order.items.map(({ sku }) => tools.stock_of({ sku })));
return stock.filter(({ pieces }) => pieces < 5).map(({ sku }) => sku);`,
  'stock of all articles': `const all = await Promise.all(Array.from({ length: 15 }, (_, at) => tools.stock_of({ sku: 's' + at })));
return all.reduce((sum, { pieces }) => sum + pieces, 0);`,
  'files with a TODO': `const files = await tools.list_files({ folder: 'notes' });
const texts = await Promise.all(files.map(({ path }) => tools.read_file({ path })));
return files.filter((_, at) => texts[at].includes('TODO')).map(({ path }) => path);`,
  'join three files': `const texts = [];
for (const path of ['notes/plan-0.md', 'notes/log-1.md', 'notes/todo-2.md']) texts.push(await tools.read_file({ path }));
return await tools.write_file({ path: 'all.md', text: texts.join('\\n') });`,
  'the largest file': `const files = await tools.list_files({ folder: 'notes' });
return files.sort((a, b) => b.size - a.size)[0].path;`,
  'a total in dollars': `const [orders, { rate }] = await Promise.all([tools.search_orders({ customer: 'c2' }), tools.rate_of({ currency: 'USD' })]);
return Math.round(orders.reduce((sum, { total }) => sum + total, 0) * rate);`,
  'three rates': `const all = await Promise.all(['USD', 'NOK', 'PEN'].map((currency) => tools.rate_of({ currency })));
return Object.fromEntries(all.map(({ currency, rate }) => [currency, rate]));`,
  'a report to a file': `const lines = [];
for (const { id, name } of await tools.list_customers({}))
  lines.push(name + ': ' + (await tools.search_orders({ customer: id })).length);
return await tools.write_file({ path: 'report.md', text: lines.join('\\n') });`,
  'weather for all customers': `const customers = await tools.list_customers({});
const cities = [...new Set(customers.map(({ city }) => city))];
const all = await Promise.all(cities.map((city) => tools.weather_in({ city })));
return Object.fromEntries(all.map(({ city, degrees }) => [city, degrees]));`,
  'check ten orders': `const all = await Promise.all(Array.from({ length: 10 }, (_, at) => tools.get_order({ id: at + 1 })));
return all.filter(({ shipping }) => shipping.carrier === 'bike').length;`,
  'thank a new customer': `const customers = await tools.list_customers({});
const newest = customers.sort((a, b) => b.since - a.since)[0];
return await tools.send_mail({ to: newest.email, subject: 'Thank you', text: 'Hello ' + newest.name + '!' });`,
};
