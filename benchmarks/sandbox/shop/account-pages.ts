import type { Page, View } from '../kit/app.ts';
import { type Html, html } from '../kit/html.ts';
import { byId } from '../kit/records.ts';
import {
  checkbox,
  choices,
  commandButton,
  commandForm,
  dialogBox,
  dialogButton,
  radioGroup,
  selectField,
  submitButton,
  textField,
} from '../kit/widgets.ts';
import { dollars } from '../kit/words.ts';
import { costOf } from './commands.ts';
import {
  CANCEL_REASONS,
  type CartLine,
  CURRENCIES,
  DELIVERIES,
  MAX_QUANTITY,
  type Order,
  PREFERENCES,
  RETURN_REASONS,
  type ShopData,
} from './data.ts';

type ShopView = View<ShopData>;

function cartRow(data: ShopData, line: CartLine): Html {
  const name = byId(data.products, line.productId)?.name ?? '';
  const quantities = Array.from({ length: MAX_QUANTITY }, (_, index) => String(index + 1));
  const options = quantities.map(
    (value) => html`<option${Number(value) === line.quantity && html` selected`}>${value}</option>`,
  );
  const quantity = html`<select name="quantity" aria-label="Quantity" data-autosubmit>${options}</select>`;
  return html`<li class="row"><div class="grow"><a href="/product/${line.productId}">${name}</a>
<div class="muted">${line.colour}</div></div>${commandForm('set-quantity', { id: line.id }, quantity)}
${commandButton('remove-from-cart', { id: line.id }, 'Remove')}</li>`;
}

export function cartPage({ data, ui }: ShopView): Page {
  if (data.cart.length === 0) {
    return { title: 'Cart', main: html`<h1>Cart</h1><p>The cart is empty.</p>`, dialog: null };
  }
  const coupon = html`${textField('Coupon code', 'coupon', ui.typed['coupon'] ?? '')}${submitButton('Apply coupon', 'plain')}`;
  const main = html`<h1>Cart</h1><ul class="rows">${data.cart.map((line) => cartRow(data, line))}</ul>
<p>Total: ${dollars(costOf(data))}${data.coupon !== null && ` (coupon ${data.coupon} applied)`}</p>
${commandForm('apply-coupon', {}, coupon)}<div class="bar"><a class="button primary" href="/checkout/address">Checkout</a>
${commandButton('empty-cart', {}, 'Empty cart', 'danger')}</div>`;
  return { title: 'Cart', main, dialog: null };
}

export function addressStep({ data, ui }: ShopView): Page {
  const options = data.addresses.map(({ id, label, street, city }) => ({
    value: String(id),
    label: `${label}: ${street}, ${city}`,
  }));
  const chosen = ui.typed['address'] ?? String(data.checkout.addressId ?? '');
  const form = html`${radioGroup('Address', 'address', options, chosen)}${submitButton('Continue')}`;
  return {
    title: 'Address',
    main: html`<h1>Delivery address</h1>${commandForm('choose-address', {}, form)}`,
    dialog: null,
  };
}

export function deliveryStep({ data, ui }: ShopView): Page {
  const options = DELIVERIES.map(({ name, cents }) => ({ value: name, label: `${name}: ${dollars(cents)}` }));
  const chosen = ui.typed['delivery'] ?? data.checkout.delivery ?? '';
  const form = html`${radioGroup('Delivery', 'delivery', options, chosen)}
<p>${checkbox('Gift wrap', 'gift-wrap', 'yes', data.checkout.giftWrap)}</p>${submitButton('Continue')}`;
  return {
    title: 'Delivery',
    main: html`<h1>Delivery method</h1>${commandForm('choose-delivery', {}, form)}`,
    dialog: null,
  };
}

export function reviewStep({ data }: ShopView): Page {
  const address = byId(data.addresses, data.checkout.addressId)?.label ?? 'not chosen';
  const form = html`<p>${checkbox('I accept the terms', 'terms', 'yes', false)}</p>${submitButton('Place order')}`;
  const main = html`<h1>Review your order</h1><article class="card"><dl><dt>Address</dt><dd>${address}</dd>
<dt>Delivery</dt><dd>${data.checkout.delivery ?? 'not chosen'}</dd><dt>Total</dt><dd>${dollars(costOf(data))}</dd></dl></article>
${commandForm('place-order', {}, form)}<a href="/cart">Back to the cart</a>`;
  return { title: 'Review', main, dialog: null };
}

export function ordersPage({ data }: ShopView): Page {
  const items = data.orders.map(
    (order) => html`<li class="row"><div class="grow"><a href="/order/${order.id}">Order ${order.id}</a>
<div class="muted">${order.date} · ${order.items.join(', ')}</div></div><span>${dollars(order.cents)}</span></li>`,
  );
  return { title: 'Orders', main: html`<h1>Orders</h1><ul class="rows">${items}</ul>`, dialog: null };
}

export function orderPage({ data, ui }: ShopView, id: string): Page | null {
  const order = byId(data.orders, id);
  if (order === null) return null;
  const main = html`<h1>Order ${order.id}</h1><article class="card" aria-label="Order ${order.id}"><dl>
<dt>Status</dt><dd>${order.status}</dd><dt>Date</dt><dd>${order.date}</dd><dt>Items</dt><dd>${order.items.join(', ')}</dd>
<dt>Total</dt><dd>${dollars(order.cents)}</dd><dt>Carrier</dt><dd>${order.carrier}</dd>
<dt>Address</dt><dd>${order.address}</dd></dl>${order.reason !== '' && html`<p>Reason: ${order.reason}</p>`}</article>
<div class="bar">${order.status === 'Processing' && dialogButton('cancel', order.id, 'Cancel order', 'danger')}
${order.status === 'Delivered' && dialogButton('return', order.id, 'Return order')}<a href="/orders">All orders</a></div>`;
  const open = ui.dialog?.subject === String(order.id) ? ui.dialog.name : null;
  return { title: `Order ${order.id}`, main, dialog: orderDialog(order, open) };
}

function orderDialog(order: Order, open: string | null): Html | null {
  const box = (title: string, command: string, reasons: readonly string[], confirm: string): Html => {
    const options = [{ value: '', label: 'Choose a reason' }, ...choices(reasons)];
    const content = html`${selectField('Reason', 'reason', options, '')}${submitButton(confirm)}`;
    return dialogBox(title, commandForm(command, { id: order.id }, content), 'Keep it');
  };
  if (open === 'cancel' && order.status === 'Processing') {
    return box(`Cancel order ${order.id}?`, 'cancel-order', CANCEL_REASONS, 'Confirm cancellation');
  }
  if (open === 'return' && order.status === 'Delivered') {
    return box(`Return order ${order.id}`, 'return-order', RETURN_REASONS, 'Request return');
  }
  return null;
}

export function accountPage({ data, ui }: ShopView): Page {
  const close = data.account
    ? dialogButton('close-account', '', 'Close account', 'danger')
    : html`<p>Your account will be closed.</p>`;
  const main = html`<h1>Account</h1><ul class="rows"><li class="row"><a href="/account/addresses">Addresses</a></li>
<li class="row"><a href="/account/preferences">Preferences</a></li><li class="row"><a href="/orders">Order history</a></li></ul>${close}`;
  const dialog =
    ui.dialog?.name === 'close-account'
      ? dialogBox(
          'Close your account?',
          commandButton('close-account', {}, 'Close for ever', 'danger'),
          'Keep it',
        )
      : null;
  return { title: 'Account', main, dialog };
}

export function preferencesPage({ data }: ShopView): Page {
  const { currency, ...switches } = data.preferences;
  const form = html`<fieldset><legend>Messages</legend>
${checkbox(PREFERENCES.newsletter, 'newsletter', 'yes', switches.newsletter)}
${checkbox(PREFERENCES.orderTexts, 'orderTexts', 'yes', switches.orderTexts)}
${checkbox(PREFERENCES.priceAlerts, 'priceAlerts', 'yes', switches.priceAlerts)}
${checkbox(PREFERENCES.reviewReminders, 'reviewReminders', 'yes', switches.reviewReminders)}</fieldset>
${selectField('Currency', 'currency', choices(CURRENCIES), currency)}${submitButton('Save preferences')}`;
  const main = html`<h1>Preferences</h1>${commandForm('save-preferences', {}, form)}
<h2>Leaving</h2>${commandButton('unsubscribe-all', {}, 'Unsubscribe from everything', 'danger')}`;
  return { title: 'Preferences', main, dialog: null };
}

export function addressesPage({ data }: ShopView): Page {
  const items = data.addresses.map(
    (address) => html`<li class="row"><div class="grow"><strong>${address.label}</strong>
<div class="muted">${address.street}, ${address.postcode} ${address.city}</div></div>
${commandButton('delete-address', { id: address.id }, 'Delete', 'danger')}</li>`,
  );
  const main = html`<h1>Addresses</h1><ul class="rows">${items}</ul><a class="button" href="/account/addresses/new">New address</a>`;
  return { title: 'Addresses', main, dialog: null };
}

export function newAddressPage({ ui }: ShopView): Page {
  const field = (label: string, name: string): Html => textField(label, name, ui.typed[name] ?? '');
  const form = html`${field('Label', 'label')}${field('Street', 'street')}${field('City', 'city')}
${field('Postcode', 'postcode')}${submitButton('Save address')}`;
  return {
    title: 'New address',
    main: html`<h1>New address</h1>${commandForm('save-address', {}, form)}`,
    dialog: null,
  };
}
