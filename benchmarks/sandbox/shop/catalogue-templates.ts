import { choose, fill, follow, pick, press, select } from '../kit/pattern.ts';
import { answeredOn, located, mistaken, moved, opened, stoppedAfter } from '../kit/subgoals.ts';
import { MOSTLY_HELDOUT, MOSTLY_TRAIN } from '../kit/template.ts';
import { dollars, pickOne } from '../kit/words.ts';
import type { Product } from './data.ts';
import { after, type ShopTemplate, target } from './target.ts';

export const addToCart: ShopTemplate = {
  name: 'add-to-cart',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { product, page, find } = target(data, random, index);
    const add = press('Add to cart', { near: product.name, page });
    return {
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
    };
  },
};

export const saveToWishlist: ShopTemplate = {
  name: 'save-to-wishlist',
  difficulty: 'easy',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { product, page, find } = target(data, random, index);
    const save = press('Save to wishlist', { near: product.name, page });
    return {
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
    };
  },
};

const FACTS = {
  price: (product: Product) => dollars(product.cents),
  material: (product: Product) => product.material,
  weight: (product: Product) => product.weight,
  warranty: (product: Product) => product.warranty,
};

export const readProduct: ShopTemplate = {
  name: 'read-product',
  difficulty: 'easy',
  splits: MOSTLY_TRAIN,
  instantiate: (data, random, index) => {
    const { product, page, find } = target(data, random, index);
    const [fact, read] = pickOne(random, Object.entries(FACTS));
    const value = read(product);
    const distractors = data.products.map(read).filter((other) => other !== value);
    return {
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
    };
  },
};

export const chooseOptions: ShopTemplate = {
  name: 'choose-options',
  difficulty: 'medium',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random, index) => {
    const { product, page, find } = target(data, random, index);
    const colour = pickOne(random, product.colours.slice(1));
    const quantity = String(2 + random.below(3));
    const add = press('Add to cart', { page });
    return {
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
    };
  },
};

const TITLES = ['Good value', 'As expected', 'Nice gift', 'Daily companion', 'Could be better'];

const TEXTS = ['I use it every day', 'The colour is lovely', 'It arrived in two days', 'My sister loves it'];

export const writeReview: ShopTemplate = {
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
    return {
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
    };
  },
};
