import type { RandomGenerator } from '../../../workflows/method/random.ts';
import { choose, fill, follow, type Move, pick, press, searchFor, select, tick } from '../kit/pattern.ts';
import { answeredOn, located, mistaken, moved, opened, stoppedAfter } from '../kit/subgoals.ts';
import {
  HELDOUT_ONLY,
  type Instance,
  instance,
  MOSTLY_HELDOUT,
  MOSTLY_TRAIN,
  outcomeOf,
  type Template,
} from '../kit/template.ts';
import { dollars, pickOne } from '../kit/words.ts';
import { shopCommands } from './commands.ts';
import {
  CANCEL_REASONS,
  DELIVERIES,
  type Order,
  PREFERENCES,
  type Product,
  RETURN_REASONS,
  type ShopData,
} from './data.ts';

type ShopTemplate = Template<ShopData>;

const FIRST_PAGE = 8;

const after = (data: ShopData, command: string, fields: Readonly<Record<string, string>>): ShopData =>
  outcomeOf(shopCommands, data, command, fields);

type Parts = Omit<Parameters<typeof instance<ShopData>>[0], 'startPath'>;
const task = (parts: Parts): Instance<ShopData> => instance({ startPath: '/products', ...parts });

interface Target {
  readonly product: Product;
  readonly page: string;
  readonly find: readonly Move[];
}

/** The product that a task is about: the third instance of a template has it beyond the first page. */
function target(data: ShopData, random: RandomGenerator, index: number): Target {
  const shown = index < 2 ? data.products.slice(0, FIRST_PAGE) : data.products.slice(FIRST_PAGE);
  const product = pickOne(
    random,
    shown.filter(({ inStock }) => inStock),
  );
  return { product, page: `/product/${product.id}`, find: index < 2 ? [] : [searchFor(product.name)] };
}

const addToCart: ShopTemplate = {
  name: 'add-to-cart',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { product, page, find } = target(data, random, index);
    const add = press('Add to cart', { near: product.name, page });
    return task({
      instruction: `Add the "${product.name}" to the cart.`,
      data,
      dialog: index === 1 ? 'promotion' : null,
      solved: after(data, 'add-to-cart', { id: String(product.id) }),
      moves: [...find, add],
      subgoals: [
        located(0.3, product.name, page),
        moved('added', `pressed Add to cart for "${product.name}"`, 0.5, add),
        stoppedAfter(0.2, add),
        mistaken('Save to wishlist', -0.2),
      ],
    });
  },
};

const saveToWishlist: ShopTemplate = {
  name: 'save-to-wishlist',
  difficulty: 'easy',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { product, page, find } = target(data, random, index);
    const save = press('Save to wishlist', { near: product.name, page });
    return task({
      instruction: `Save the "${product.name}" to the wishlist.`,
      data,
      solved: after(data, 'save-to-wishlist', { id: String(product.id) }),
      moves: [...find, save],
      subgoals: [
        located(0.3, product.name, page),
        moved('saved', `pressed Save to wishlist for "${product.name}"`, 0.5, save),
        stoppedAfter(0.2, save),
        mistaken('Add to cart', -0.2),
      ],
    });
  },
};

const FACTS = {
  price: (product: Product) => dollars(product.cents),
  material: (product: Product) => product.material,
  weight: (product: Product) => product.weight,
  warranty: (product: Product) => product.warranty,
};

const readProduct: ShopTemplate = {
  name: 'read-product',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { product, page, find } = target(data, random, index);
    const [fact, read] = pickOne(random, Object.entries(FACTS));
    const value = read(product);
    const distractors = data.products.map(read).filter((other) => other !== value);
    return task({
      instruction: `What is the ${fact} of the "${product.name}"?`,
      data,
      solved: data,
      answer: { value, distractors },
      moves: [...find, follow(product.name)],
      subgoals: [
        opened('opened', `opened "${product.name}"`, 0.5, page),
        answeredOn(0.5, page),
        mistaken('Add to cart', -0.3),
      ],
    });
  },
};

const chooseOptions: ShopTemplate = {
  name: 'choose-options',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { product, page, find } = target(data, random, index);
    const colour = pickOne(random, product.colours.slice(1));
    const quantity = String(2 + random.below(3));
    const add = press('Add to cart', { page });
    return task({
      instruction: `Add the "${product.name}" to the cart in the colour "${colour}" and the quantity "${quantity}".`,
      data,
      solved: after(data, 'add-to-cart', { id: String(product.id), colour, quantity }),
      moves: [
        ...find,
        follow(product.name),
        press('Colour'),
        pick(colour),
        select('Quantity', quantity),
        add,
      ],
      subgoals: [
        opened('opened', `opened "${product.name}"`, 0.2, page),
        moved('colour', `chose the colour ${colour}`, 0.2, pick(colour)),
        moved('quantity', `chose the quantity ${quantity}`, 0.2, select('Quantity', quantity)),
        moved('added', 'pressed Add to cart', 0.2, press('Add to cart', { near: product.name, page })),
        stoppedAfter(0.2, add),
      ],
    });
  },
};

/** A cart with three different products. */
function withCart(data: ShopData, random: RandomGenerator): { data: ShopData; products: readonly Product[] } {
  const products = random.shuffle(data.products.filter(({ inStock }) => inStock)).slice(0, 3);
  const cart = products.map(({ id, colours }, index) => ({
    id: index + 1,
    productId: id,
    colour: colours[0] ?? '',
    quantity: 1,
  }));
  return { data: { ...data, cart }, products };
}

const removeFromCart: ShopTemplate = {
  name: 'remove-from-cart',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (empty, random) => {
    const { data, products } = withCart(empty, random);
    const product = pickOne(random, products);
    const line = data.cart.find(({ productId }) => productId === product.id);
    const remove = press('Remove', { near: product.name });
    return task({
      instruction: `Remove the "${product.name}" from the cart.`,
      data,
      solved: after(data, 'remove-from-cart', { id: String(line?.id) }),
      moves: [follow('Cart'), remove],
      subgoals: [
        opened('cart', 'opened the cart', 0.3, '/cart'),
        moved('removed', `pressed Remove for "${product.name}"`, 0.5, remove),
        stoppedAfter(0.2, remove),
        mistaken('Empty cart'),
      ],
    });
  },
};

const applyCoupon: ShopTemplate = {
  name: 'apply-coupon',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (empty, random) => {
    const { data } = withCart(empty, random);
    const coupon = pickOne(random, data.coupons);
    const apply = press('Apply coupon');
    return task({
      instruction: `Apply the coupon code "${coupon}" to the cart.`,
      data,
      solved: after(data, 'apply-coupon', { coupon }),
      moves: [follow('Cart'), fill('Coupon code', coupon), apply],
      subgoals: [
        opened('cart', 'opened the cart', 0.2, '/cart'),
        moved('typed', 'entered the coupon code', 0.3, fill('Coupon code', coupon)),
        moved('applied', 'pressed Apply coupon', 0.3, apply),
        stoppedAfter(0.2, apply),
        mistaken('Empty cart'),
      ],
    });
  },
};

/** Ends one order of a kind through the dialog on its page. */
function endOrder(parts: {
  readonly name: string;
  readonly splits: ShopTemplate['splits'];
  readonly status: Order['status'];
  readonly verb: string;
  readonly button: string;
  readonly command: string;
  readonly reasons: readonly string[];
  readonly confirm: string;
}): ShopTemplate {
  const { name, splits, status, verb, button, command, reasons, confirm } = parts;
  return {
    name,
    difficulty: 'medium',
    splits,
    instantiate: (data, random) => {
      const order = pickOne(
        random,
        data.orders.filter((other) => other.status === status),
      );
      const reason = pickOne(random, reasons);
      const page = `/order/${order.id}`;
      return task({
        instruction: `${verb} the order "Order ${order.id}" with the reason "${reason}".`,
        data,
        solved: after(data, command, { id: String(order.id), reason }),
        moves: [
          follow('Orders'),
          follow(`Order ${order.id}`),
          press(button, { page }),
          select('Reason', reason),
          press(confirm),
        ],
        subgoals: [
          opened('opened', `opened order ${order.id}`, 0.3, page),
          moved('asked', `pressed ${button}`, 0.2, press(button, { near: String(order.id), page })),
          moved('reason', `chose the reason ${reason}`, 0.2, select('Reason', reason)),
          moved('confirmed', `pressed ${confirm}`, 0.2, press(confirm)),
          stoppedAfter(0.1, press(confirm)),
          mistaken('Close account'),
        ],
      });
    },
  };
}

const cancelOrder = endOrder({
  name: 'cancel-order',
  splits: MOSTLY_TRAIN,
  status: 'Processing',
  verb: 'Cancel',
  button: 'Cancel order',
  command: 'cancel-order',
  reasons: CANCEL_REASONS,
  confirm: 'Confirm cancellation',
});

const returnOrder = endOrder({
  name: 'return-order',
  splits: HELDOUT_ONLY,
  status: 'Delivered',
  verb: 'Return',
  button: 'Return order',
  command: 'return-order',
  reasons: RETURN_REASONS,
  confirm: 'Request return',
});

const readOrder: ShopTemplate = {
  name: 'read-order',
  difficulty: 'easy',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random) => {
    const order = pickOne(random, data.orders);
    const page = `/order/${order.id}`;
    const [fact, value, all] = pickOne(random, [
      ['status', order.status, data.orders.map(({ status }) => status)],
      ['carrier', order.carrier, data.orders.map(({ carrier }) => carrier)],
    ] as const);
    return task({
      instruction: `What is the ${fact} of the order "Order ${order.id}"?`,
      data,
      solved: data,
      answer: { value, distractors: all.filter((other) => other !== value) },
      moves: [follow('Orders'), follow(`Order ${order.id}`)],
      subgoals: [
        opened('orders', 'opened the orders', 0.2, '/orders'),
        opened('opened', `opened order ${order.id}`, 0.4, page),
        answeredOn(0.4, page),
        mistaken('Cancel order', -0.3),
      ],
    });
  },
};

const checkOut: ShopTemplate = {
  name: 'check-out',
  difficulty: 'hard',
  splits: MOSTLY_HELDOUT,
  instantiate: (empty, random) => {
    const { data } = withCart(empty, random);
    const address = pickOne(random, data.addresses);
    const delivery = pickOne(random, DELIVERIES).name;
    const withAddress = after(data, 'choose-address', { address: String(address.id) });
    const withDelivery = after(withAddress, 'choose-delivery', { delivery });
    const place = press('Place order');
    return task({
      instruction: `Checkout the cart: place an order to the address "${address.label}" with the delivery "${delivery}", and accept the terms.`,
      data,
      solved: after(withDelivery, 'place-order', { terms: 'yes' }),
      moves: [
        follow('Cart'),
        follow('Checkout'),
        choose(address.label),
        press('Continue'),
        choose(delivery),
        press('Continue'),
        tick('I accept the terms'),
        place,
      ],
      subgoals: [
        opened('cart', 'opened the cart', 0.1, '/cart'),
        opened('checkout', 'went to the checkout', 0.1, '/checkout/address'),
        moved('address', `chose the address ${address.label}`, 0.15, choose(address.label)),
        opened('delivery-page', 'went on to the delivery', 0.1, '/checkout/delivery'),
        moved('delivery', `chose the delivery ${delivery}`, 0.15, choose(delivery)),
        moved('terms', 'accepted the terms', 0.15, tick('I accept the terms')),
        moved('placed', 'pressed Place order', 0.15, place),
        stoppedAfter(0.1, place),
        mistaken('Empty cart'),
      ],
    });
  },
};

const TITLES = ['Good value', 'As expected', 'Nice gift', 'Daily companion', 'Could be better'];
const TEXTS = ['I use it every day', 'The colour is lovely', 'It arrived in two days', 'My sister loves it'];

const writeReview: ShopTemplate = {
  name: 'write-review',
  difficulty: 'hard',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { product, page, find } = target(data, random, index);
    const count = 2 + random.below(4);
    const title = pickOne(random, TITLES);
    const text = pickOne(random, TEXTS);
    const stars = choose(`${count} stars`);
    const submit = press('Submit review');
    return task({
      instruction: `Write a review of the "${product.name}" with the rating "${count} stars", the title "${title}" and the text "${text}".`,
      data,
      solved: after(data, 'submit-review', { id: String(product.id), stars: String(count), title, text }),
      moves: [
        ...find,
        follow(product.name),
        follow('Write a review'),
        stars,
        fill('Title', title),
        fill('Text', text),
        submit,
      ],
      subgoals: [
        opened('opened', `opened "${product.name}"`, 0.2, page),
        opened('form', 'opened the review form', 0.2, `${page}/review`),
        moved('stars', `gave ${count} stars`, 0.15, stars),
        moved('title', 'entered the title', 0.1, fill('Title', title)),
        moved('text', 'wrote the text', 0.1, fill('Text', text)),
        moved('submitted', 'pressed Submit review', 0.15, submit),
        stoppedAfter(0.1, submit),
        mistaken('Add to cart', -0.3),
      ],
    });
  },
};

const LABELS = ['Cabin', 'Studio', 'Grandma', 'Warehouse'];
const STREETS = ['7 Heron Way', '55 Castle Street', '2 Quay Walk', '91 Maple Avenue'];
const CITIES = ['Dover', 'Exeter', 'Durham', 'Lincoln'];

const addAddress: ShopTemplate = {
  name: 'add-address',
  difficulty: 'hard',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random) => {
    const [label, street, city] = [LABELS, STREETS, CITIES].map((words) => pickOne(random, words));
    const address = { label: label ?? '', street: street ?? '', city: city ?? '' };
    const postcode = String(10000 + random.below(80000));
    const save = press('Save address');
    return task({
      instruction: `Add a new address to the account with the label "${address.label}", the street "${address.street}", the city "${address.city}" and the postcode "${postcode}".`,
      data,
      solved: after(data, 'save-address', { ...address, postcode }),
      moves: [
        follow('Account'),
        follow('Addresses'),
        follow('New address'),
        fill('Label', address.label),
        fill('Street', address.street),
        fill('City', address.city),
        fill('Postcode', postcode),
        save,
      ],
      subgoals: [
        opened('account', 'opened the account', 0.1, '/account'),
        opened('addresses', 'opened the addresses', 0.1, '/account/addresses'),
        opened('form', 'opened the form for a new address', 0.15, '/account/addresses/new'),
        moved('label', 'entered the label', 0.1, fill('Label', address.label)),
        moved('street', 'entered the street', 0.1, fill('Street', address.street)),
        moved('city', 'entered the city', 0.1, fill('City', address.city)),
        moved('postcode', 'entered the postcode', 0.1, fill('Postcode', postcode)),
        moved('saved', 'pressed Save address', 0.15, save),
        stoppedAfter(0.1, save),
        mistaken('Delete'),
      ],
    });
  },
};

const SWITCHES = ['orderTexts', 'priceAlerts', 'reviewReminders'] as const;

const setPreference: ShopTemplate = {
  name: 'set-preference',
  difficulty: 'medium',
  splits: MOSTLY_TRAIN,
  instantiate: (data, _random, index) => {
    // One switch each, so that no instruction occurs in both splits.
    const name = SWITCHES[index % SWITCHES.length] ?? 'orderTexts';
    const label = PREFERENCES[name];
    const save = press('Save preferences');
    return task({
      instruction: `Turn on "${label}" in the preferences of the account, and save.`,
      data,
      solved: { ...data, preferences: { ...data.preferences, [name]: true } },
      moves: [follow('Account'), follow('Preferences'), tick(label), save],
      subgoals: [
        opened('account', 'opened the account', 0.2, '/account'),
        opened('preferences', 'opened the preferences', 0.2, '/account/preferences'),
        moved('ticked', `ticked ${label}`, 0.2, tick(label)),
        moved('saved', 'pressed Save preferences', 0.2, save),
        stoppedAfter(0.2, save),
        mistaken('Unsubscribe from everything'),
        mistaken('Close account'),
      ],
    });
  },
};

export const shopTemplates: readonly ShopTemplate[] = [
  addToCart,
  saveToWishlist,
  readProduct,
  chooseOptions,
  removeFromCart,
  applyCoupon,
  cancelOrder,
  readOrder,
  writeReview,
  checkOut,
  setPreference,
  addAddress,
  returnOrder,
];
