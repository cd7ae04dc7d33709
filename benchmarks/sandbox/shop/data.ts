import { z } from 'zod';
import type { RandomGenerator } from '../../../workflows/method/random.ts';
import { dateIn, pickOne } from '../kit/words.ts';

export const CATEGORIES = ['Kitchen', 'Garden', 'Travel', 'Office'];
export const COLOURS = ['Blue', 'Green', 'Red', 'White'];
export const DELIVERIES = [
  { name: 'Standard', cents: 0 },
  { name: 'Express', cents: 1200 },
  { name: 'Pickup point', cents: 300 },
];
export const CANCEL_REASONS = ['Ordered by mistake', 'Found it cheaper', 'Takes too long'];
export const RETURN_REASONS = ['Wrong size', 'Damaged', 'Not as described'];
export const CURRENCIES = ['US dollar', 'Euro', 'Yen'];
export const MAX_QUANTITY = 5;

const productSchema = z.strictObject({
  id: z.int(),
  name: z.string(),
  category: z.string(),
  cents: z.int(),
  inStock: z.boolean(),
  colours: z.array(z.string()),
  material: z.string(),
  weight: z.string(),
  warranty: z.string(),
});
export type Product = z.infer<typeof productSchema>;

const cartLineSchema = z.strictObject({
  id: z.int(),
  productId: z.int(),
  colour: z.string(),
  quantity: z.int().min(1).max(MAX_QUANTITY),
});
export type CartLine = z.infer<typeof cartLineSchema>;

const orderSchema = z.strictObject({
  /** The order number. */
  id: z.int(),
  date: z.string(),
  status: z.enum(['Processing', 'Shipped', 'Delivered', 'Cancelled', 'Return requested']),
  items: z.array(z.string()),
  cents: z.int(),
  carrier: z.string(),
  address: z.string(),
  delivery: z.string(),
  /** Why it was cancelled or returned, '' if it was not. */
  reason: z.string(),
});
export type Order = z.infer<typeof orderSchema>;

const addressSchema = z.strictObject({
  id: z.int(),
  label: z.string(),
  street: z.string(),
  city: z.string(),
  postcode: z.string(),
});

export const PREFERENCES = {
  newsletter: 'Weekly newsletter',
  orderTexts: 'Order updates by text message',
  priceAlerts: 'Price alerts for the wishlist',
  reviewReminders: 'Reminders to write a review',
} as const;

export const shopSchema = z.strictObject({
  products: z.array(productSchema),
  cart: z.array(cartLineSchema),
  coupons: z.array(z.string()),
  coupon: z.nullable(z.string()),
  wishlist: z.array(z.int()),
  orders: z.array(orderSchema),
  addresses: z.array(addressSchema),
  reviews: z.array(
    z.strictObject({ productId: z.int(), stars: z.int().min(1).max(5), title: z.string(), text: z.string() }),
  ),
  preferences: z.strictObject({
    newsletter: z.boolean(),
    orderTexts: z.boolean(),
    priceAlerts: z.boolean(),
    reviewReminders: z.boolean(),
    currency: z.string(),
  }),
  /** What has been chosen on the way to an order. */
  checkout: z.strictObject({
    addressId: z.nullable(z.int()),
    delivery: z.nullable(z.string()),
    giftWrap: z.boolean(),
  }),
  /** False once the account has been closed. */
  account: z.boolean(),
});
export type ShopData = z.infer<typeof shopSchema>;

const STYLES = [
  'Alpine',
  'Harbour',
  'Nordic',
  'Sunset',
  'Willow',
  'Cobalt',
  'Juniper',
  'Marble',
  'Copper',
  'Breeze',
];
const THINGS = [
  'Kettle',
  'Lantern',
  'Backpack',
  'Notebook',
  'Planter',
  'Teapot',
  'Suitcase',
  'Desk Lamp',
  'Trowel',
];
const MATERIALS = ['steel', 'oak', 'cotton', 'glass', 'recycled paper', 'ceramic'];
const CATALOGUE_SIZE = 32;

function product(random: RandomGenerator, id: number, name: string): Product {
  return {
    id,
    name,
    category: pickOne(random, CATEGORIES),
    cents: 500 + 5 * random.below(3000),
    inStock: random.below(6) > 0,
    colours: random.shuffle(COLOURS).slice(0, 3),
    material: pickOne(random, MATERIALS),
    weight: `${100 + random.below(4000)} g`,
    warranty: `${6 + random.below(55)} months`,
  };
}

const STATUSES = ['Processing', 'Processing', 'Shipped', 'Delivered', 'Delivered'] as const;
const CARRIERS = ['Swiftpost', 'Parcelway', 'Redbox', 'Homerun'];
const ORDER_COUNT = 10;

function order(random: RandomGenerator, id: number, products: readonly Product[]): Order {
  const bought = random.shuffle(products).slice(0, 1 + random.below(2));
  return {
    id,
    date: dateIn(random, 1, 3),
    // Both kinds that tasks are about occur in every world.
    status: STATUSES[id % STATUSES.length] ?? 'Processing',
    items: bought.map(({ name }) => name),
    cents: bought.reduce((sum, { cents }) => sum + cents, 0),
    carrier: pickOne(random, CARRIERS),
    address: 'Home',
    delivery: 'Standard',
    reason: '',
  };
}

export function seedShop(random: RandomGenerator): ShopData {
  const names = random.shuffle(STYLES.flatMap((style) => THINGS.map((thing) => `${style} ${thing}`)));
  const products = names.slice(0, CATALOGUE_SIZE).map((name, index) => product(random, index + 11, name));
  const firstOrder = 1000 + random.below(8000);
  return {
    products,
    cart: [],
    coupons: random.shuffle(['SPRING10', 'HELLO15', 'GARDEN20', 'TRAVEL25', 'THANKS5']).slice(0, 3),
    coupon: null,
    wishlist: [],
    orders: Array.from({ length: ORDER_COUNT }, (_, index) => order(random, firstOrder + index, products)),
    addresses: [
      { id: 1, label: 'Home', street: '12 Mill Road', city: 'Leeds', postcode: '20412' },
      { id: 2, label: 'Office', street: '3 Station Square', city: 'York', postcode: '30977' },
      { id: 3, label: 'Parents', street: '48 Orchard Lane', city: 'Bath', postcode: '11820' },
    ],
    reviews: [],
    preferences: {
      newsletter: true,
      orderTexts: false,
      priceAlerts: false,
      reviewReminders: false,
      currency: 'US dollar',
    },
    checkout: { addressId: null, delivery: null, giftWrap: false },
    account: true,
  };
}
