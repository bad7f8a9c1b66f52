/** Stand-ins: each says what it would do. Your own handlers go here. */

export const read_order = ({ order }) => `order ${order}`;
export const refund = ({ payee, amount }) => `${amount} to ${payee}`;
export const send_mail = ({ to }) => `sent to ${to.join(', ')}`;
export const delete_customer = ({ customer }) => `deleted ${customer}`;

export const read_file = ({ path }) => `text of ${path}`;
export const write_file = ({ path }) => `wrote ${path}`;
export const shell = ({ command }) => `ran ${command}`;
