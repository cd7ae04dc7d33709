import type { RandomGenerator } from '../../../workflows/method/random.ts';
import { choose, fill, follow, press, select, tick } from '../kit/pattern.ts';
import { answeredOn, mistaken, moved, opened, stoppedAfter } from '../kit/subgoals.ts';
import { HELDOUT_ONLY, MOSTLY_HELDOUT, MOSTLY_TRAIN } from '../kit/template.ts';
import { pickOne } from '../kit/words.ts';
import {
  CANCEL_REASONS,
  DELIVERIES,
  type Order,
  type Product,
  RETURN_REASONS,
  type ShopData,
} from './data.ts';
import { after, type ShopTemplate } from './target.ts';

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

export const removeFromCart: ShopTemplate = {
  name: 'remove-from-cart',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (empty, random) => {
    const { data, products } = withCart(empty, random);
    const product = pickOne(random, products);
    const line = data.cart.find(({ productId }) => productId === product.id);
    const remove = press('Remove', { near: product.name });
    return {
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
    };
  },
};

export const applyCoupon: ShopTemplate = {
  name: 'apply-coupon',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (empty, random) => {
    const { data } = withCart(empty, random);
    const coupon = pickOne(random, data.coupons);
    const apply = press('Apply coupon');
    return {
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
    };
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
      return {
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
      };
    },
  };
}

export const cancelOrder = endOrder({
  name: 'cancel-order',
  splits: MOSTLY_TRAIN,
  status: 'Processing',
  verb: 'Cancel',
  button: 'Cancel order',
  command: 'cancel-order',
  reasons: CANCEL_REASONS,
  confirm: 'Confirm cancellation',
});

export const returnOrder = endOrder({
  name: 'return-order',
  splits: HELDOUT_ONLY,
  status: 'Delivered',
  verb: 'Return',
  button: 'Return order',
  command: 'return-order',
  reasons: RETURN_REASONS,
  confirm: 'Request return',
});

export const readOrder: ShopTemplate = {
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
    return {
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
    };
  },
};

export const checkOut: ShopTemplate = {
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
    return {
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
    };
  },
};
