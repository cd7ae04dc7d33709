import { type Command, done, refuse } from '../kit/command.ts';
import { byId, fieldOf, nextId, patchById } from '../kit/records.ts';
import {
  CANCEL_REASONS,
  type CartLine,
  CURRENCIES,
  DELIVERIES,
  MAX_QUANTITY,
  type Order,
  RETURN_REASONS,
  type ShopData,
} from './data.ts';

type ShopCommand = Command<ShopData>;

export function costOf(data: ShopData): number {
  const price = (line: CartLine): number => (byId(data.products, line.productId)?.cents ?? 0) * line.quantity;
  return data.cart.reduce((sum, line) => sum + price(line), 0);
}

function quantityFrom(fields: URLSearchParams): number | null {
  const quantity = Number(fields.get('quantity') ?? '1');
  return Number.isInteger(quantity) && quantity >= 1 && quantity <= MAX_QUANTITY ? quantity : null;
}

const addToCart: ShopCommand = (data, fields) => {
  const product = byId(data.products, fields.get('id'));
  const quantity = quantityFrom(fields);
  if (product === null) return refuse('This product does not exist.');
  if (!product.inStock) return refuse(`${product.name} is out of stock.`);
  if (quantity === null) return refuse(`Choose a quantity between 1 and ${MAX_QUANTITY}.`);
  const colour = fieldOf(fields, 'colour') || (product.colours[0] ?? '');
  if (!product.colours.includes(colour)) return refuse('Choose one of the colours.');
  const same = data.cart.find((line) => line.productId === product.id && line.colour === colour);
  const cart =
    same === undefined
      ? [...data.cart, { id: nextId(data.cart), productId: product.id, colour, quantity }]
      : patchById(data.cart, same.id, { quantity: Math.min(MAX_QUANTITY, same.quantity + quantity) });
  return done({ ...data, cart }, `${product.name} added to the cart.`);
};

const removeFromCart: ShopCommand = (data, fields) => {
  const line = byId(data.cart, fields.get('id'));
  if (line === null) return refuse('This item is not in the cart any more.');
  return done({ ...data, cart: data.cart.filter(({ id }) => id !== line.id) }, 'Item removed from the cart.');
};

const setQuantity: ShopCommand = (data, fields) => {
  const line = byId(data.cart, fields.get('id'));
  const quantity = quantityFrom(fields);
  if (line === null) return refuse('This item is not in the cart any more.');
  if (quantity === null) return refuse(`Choose a quantity between 1 and ${MAX_QUANTITY}.`);
  return done({ ...data, cart: patchById(data.cart, line.id, { quantity }) }, 'Quantity changed.');
};

const applyCoupon: ShopCommand = (data, fields) => {
  const coupon = fieldOf(fields, 'coupon').toUpperCase();
  if (!data.coupons.includes(coupon)) return refuse('This coupon is not valid.');
  return done({ ...data, coupon }, `Coupon ${coupon} applied.`);
};

const saveToWishlist: ShopCommand = (data, fields) => {
  const product = byId(data.products, fields.get('id'));
  if (product === null) return refuse('This product does not exist.');
  const wishlist = [...new Set([...data.wishlist, product.id])];
  return done({ ...data, wishlist }, `${product.name} saved to the wishlist.`);
};

const removeFromWishlist: ShopCommand = (data, fields) => {
  const wishlist = data.wishlist.filter((id) => String(id) !== fields.get('id'));
  return done({ ...data, wishlist }, 'Removed from the wishlist.');
};

/** Ends an order that is in one state with a reason, and says so. */
function endOrder(
  from: Order['status'],
  to: Order['status'],
  reasons: readonly string[],
  notice: string,
): ShopCommand {
  return (data, fields) => {
    const order = byId(data.orders, fields.get('id'));
    const reason = fieldOf(fields, 'reason');
    if (order === null || order.status !== from) return refuse('This is not possible for this order.');
    if (!reasons.includes(reason)) return refuse('Choose a reason.');
    return done({ ...data, orders: patchById(data.orders, order.id, { status: to, reason }) }, notice);
  };
}

const chooseAddress: ShopCommand = (data, fields) => {
  const address = byId(data.addresses, fields.get('address'));
  if (address === null) return refuse('Choose an address.');
  return done({ ...data, checkout: { ...data.checkout, addressId: address.id } }, '', '/checkout/delivery');
};

const chooseDelivery: ShopCommand = (data, fields) => {
  const delivery = fieldOf(fields, 'delivery');
  if (!DELIVERIES.some(({ name }) => name === delivery)) return refuse('Choose a delivery.');
  const checkout = { ...data.checkout, delivery, giftWrap: fields.has('gift-wrap') };
  return done({ ...data, checkout }, '', '/checkout/review');
};

const placeOrder: ShopCommand = (data, fields) => {
  const address = byId(data.addresses, data.checkout.addressId);
  const { delivery, giftWrap } = data.checkout;
  if (data.cart.length === 0) return refuse('The cart is empty.');
  if (address === null || delivery === null) return refuse('Choose an address and a delivery first.');
  if (!fields.has('terms')) return refuse('Accept the terms first.');
  const names = data.cart.map(
    (line) => `${line.quantity} x ${byId(data.products, line.productId)?.name ?? ''}`,
  );
  const order: Order = {
    id: nextId(data.orders),
    date: '2026-03-31',
    status: 'Processing',
    items: giftWrap ? [...names, 'Gift wrap'] : names,
    cents: costOf(data),
    carrier: '',
    address: address.label,
    delivery,
    reason: '',
  };
  const checkout = { addressId: null, delivery: null, giftWrap: false };
  const next = { ...data, orders: [...data.orders, order], cart: [], coupon: null, checkout };
  return done(next, `Order ${order.id} placed.`, `/order/${order.id}`);
};

const submitReview: ShopCommand = (data, fields) => {
  const product = byId(data.products, fields.get('id'));
  const [stars, title, text] = [
    Number(fields.get('stars')),
    fieldOf(fields, 'title'),
    fieldOf(fields, 'text'),
  ];
  if (product === null) return refuse('This product does not exist.');
  if (!Number.isInteger(stars) || stars < 1 || stars > 5) return refuse('Choose a rating.');
  if (title === '') return refuse('Enter a title.');
  const reviews = [...data.reviews, { productId: product.id, stars, title, text }];
  return done({ ...data, reviews }, 'Review submitted.', `/product/${product.id}`);
};

const savePreferences: ShopCommand = (data, fields) => {
  const currency = fieldOf(fields, 'currency');
  if (!CURRENCIES.includes(currency)) return refuse('Choose a currency.');
  const preferences = {
    newsletter: fields.has('newsletter'),
    orderTexts: fields.has('orderTexts'),
    priceAlerts: fields.has('priceAlerts'),
    reviewReminders: fields.has('reviewReminders'),
    currency,
  };
  return done({ ...data, preferences }, 'Preferences saved.');
};

const unsubscribeAll: ShopCommand = (data) => {
  const off = { newsletter: false, orderTexts: false, priceAlerts: false, reviewReminders: false };
  return done({ ...data, preferences: { ...data.preferences, ...off } }, 'Unsubscribed from everything.');
};

const saveAddress: ShopCommand = (data, fields) => {
  const [label = '', street = '', city = '', postcode = ''] = ['label', 'street', 'city', 'postcode'].map(
    (name) => fieldOf(fields, name),
  );
  if (label === '' || street === '' || city === '') return refuse('Enter a label, a street and a city.');
  const address = { id: nextId(data.addresses), label, street, city, postcode };
  return done({ ...data, addresses: [...data.addresses, address] }, 'Address saved.', '/account/addresses');
};

const deleteAddress: ShopCommand = (data, fields) => {
  const addresses = data.addresses.filter(({ id }) => String(id) !== fields.get('id'));
  return done({ ...data, addresses }, 'Address deleted.');
};

export const shopCommands: Readonly<Record<string, ShopCommand>> = {
  'add-to-cart': addToCart,
  'remove-from-cart': removeFromCart,
  'set-quantity': setQuantity,
  'empty-cart': (data) => done({ ...data, cart: [] }, 'The cart is empty now.'),
  'apply-coupon': applyCoupon,
  'save-to-wishlist': saveToWishlist,
  'remove-from-wishlist': removeFromWishlist,
  'clear-wishlist': (data) => done({ ...data, wishlist: [] }, 'The wishlist is empty now.'),
  'cancel-order': endOrder('Processing', 'Cancelled', CANCEL_REASONS, 'Order cancelled.'),
  'return-order': endOrder('Delivered', 'Return requested', RETURN_REASONS, 'Return requested.'),
  'choose-address': chooseAddress,
  'choose-delivery': chooseDelivery,
  'place-order': placeOrder,
  'submit-review': submitReview,
  'save-preferences': savePreferences,
  'unsubscribe-all': unsubscribeAll,
  'save-address': saveAddress,
  'delete-address': deleteAddress,
  'close-account': (data) => done({ ...data, account: false }, 'Your account will be closed.'),
};
