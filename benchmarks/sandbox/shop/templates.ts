import { addAddress, setPreference } from './account-templates.ts';
import { addToCart, chooseOptions, readProduct, saveToWishlist, writeReview } from './catalogue-templates.ts';
import {
  applyCoupon,
  cancelOrder,
  checkOut,
  readOrder,
  removeFromCart,
  returnOrder,
} from './order-templates.ts';
import type { ShopTemplate } from './target.ts';

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
