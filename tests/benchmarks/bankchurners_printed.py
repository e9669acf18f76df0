"""Results that Francis and Wagner print for BankChurners.

Their text has no number of Figures 4 to 8 but "four of six" and "roughly 0.2 compared to 1.0". These are the numbers
that their pictures are drawn from:
github.com/yoid2000/non-member-framework-paper-code, `results.json` (its first run; the others differ in the fourth
digit where nothing is replicated) and `resultsRecall.json`.
"""

FIGURE_4 = {
    "Attrition_Flag": (0.8950, 0.8394),
    "Card_Category": (0.9348, 0.9316),
    "Education_Level": (0.3083, 0.3083),
    "Gender": (0.9010, 0.5206),
    "Income_Category": (0.5002, 0.4775),
    "Marital_Status": (0.4643, 0.4682),
    "Avg_Open_To_Buy": (1.0, 0.2043),
    "Avg_Utilization_Ratio": (0.2465, 0.2465),
    "Contacts_Count_12_mon": (0.3258, 0.3258),
    "Credit_Limit": (1.0, 0.1955),
    "Customer_Age": (0.3929, 0.2294),
    "Dependent_count": (0.2800, 0.2800),
    "Months_Inactive_12_mon": (0.3830, 0.3830),
    "Months_on_book": (0.3452, 0.3495),
    "Total_Amt_Chng_Q4_Q1": (0.5426, 0.5426),
    "Total_Ct_Chng_Q4_Q1": (0.5146, 0.5146),
    "Total_Relationship_Count": (0.2297, 0.2297),
    "Total_Revolving_Bal": (1.0, 0.2465),
    "Total_Trans_Amt": (0.4271, 0.3725),
    "Total_Trans_Ct": (0.4103, 0.2103),
}
"""Precision of each secret: all other attributes known, and the public ones."""

FIGURE_5 = {
    "Attrition_Flag": (
        (1.0, 0.8957), (0.8950, 0.9357), (0.7989, 0.9539), (0.6874, 0.9684), (0.5696, 0.9723), (0.4403, 0.9813),
        (0.3261, 0.9828), (0.2195, 0.9835), (0.1389, 0.9858), (0.0796, 0.9959), (0.0401, 1.0),
    ),
    "Card_Category": (
        (1.0, 0.9342), (0.9355, 0.9620), (0.9191, 0.9656), (0.8914, 0.9686), (0.8648, 0.9699), (0.8332, 0.9775),
        (0.7930, 0.9888), (0.7460, 0.9934), (0.6732, 0.9985), (0.5986, 1.0),
    ),
    "Education_Level": ((1.0, 0.3083),),
    "Gender": ((1.0, 0.8987), (0.8062, 0.9551), (0.7680, 0.9602), (0.6874, 0.9602), (0.3725, 0.9832), (0.1046, 1.0)),
    "Income_Category": (
        (1.0, 0.5002), (0.5709, 0.6357), (0.4367, 0.6775), (0.3879, 0.7006), (0.3235, 0.7345), (0.2577, 0.7573),
        (0.1333, 0.7573), (0.0553, 0.7917), (0.0217, 0.8182), (0.0072, 0.8182), (0.0036, 0.8182),
    ),
    "Marital_Status": ((1.0, 0.4643), (0.2007, 0.6262), (0.0145, 0.8409), (0.0030, 1.0)),
}  # fmt: skip
"""(prediction rate, precision) by thresholds, all other attributes known."""

FIGURE_6 = {
    "Attrition_Flag": (0.8838, 0.8799, 0.8845),
    "Card_Category": (0.9266, 0.9316, 0.9348),
    "Education_Level": (0.3192, 0.3073, 0.3031),
    "Gender": (0.8835, 0.9010, 0.8954),
    "Income_Category": (0.5199, 0.4992, 0.5183),
    "Marital_Status": (0.4617, 0.4811, 0.4738),
    "Avg_Open_To_Buy": (1.0, 1.0, 1.0),
    "Avg_Utilization_Ratio": (0.2481, 0.2511, 0.2396),
    "Contacts_Count_12_mon": (0.3340, 0.3353, 0.3330),
    "Credit_Limit": (1.0, 1.0, 1.0),
    "Customer_Age": (0.3810, 0.3853, 0.3830),
    "Dependent_count": (0.2514, 0.2606, 0.2761),
    "Months_Inactive_12_mon": (0.3741, 0.3850, 0.3758),
    "Months_on_book": (0.3386, 0.3472, 0.3481),
    "Total_Amt_Chng_Q4_Q1": (0.6611, 0.6611, 0.4956),
    "Total_Ct_Chng_Q4_Q1": (0.6696, 0.6864, 0.5821),
    "Total_Relationship_Count": (0.2201, 0.2310, 0.2254),
    "Total_Revolving_Bal": (1.0, 1.0, 1.0),
    "Total_Trans_Amt": (0.4403, 0.4130, 0.4426),
    "Total_Trans_Ct": (0.3725, 0.3741, 0.3945),
}
"""Precision with 10 %, 50 % and 100 % of the records replicated, all other attributes known (none: Figure 4)."""

FIGURE_8 = {
    "Attrition_Flag": 0.8950,
    "Card_Category": 0.9332,
    "Education_Level": 0.1902,
    "Gender": 0.7749,
    "Income_Category": 0.4465,
    "Marital_Status": 0.4643,
    "Avg_Open_To_Buy": 0.4149,
    "Avg_Utilization_Ratio": 0.2465,
    "Contacts_Count_12_mon": 0.3261,
    "Credit_Limit": 0.3791,
    "Customer_Age": 0.2149,
    "Dependent_count": 0.2649,
    "Months_Inactive_12_mon": 0.3830,
    "Months_on_book": 0.3524,
    "Total_Amt_Chng_Q4_Q1": 0.5528,
    "Total_Ct_Chng_Q4_Q1": 0.5058,
    "Total_Relationship_Count": 0.2297,
    "Total_Revolving_Bal": 0.2465,
    "Total_Trans_Amt": 0.4238,
    "Total_Trans_Ct": 0.2965,
}
"""Precision on the same non-members by models of rows that CTGAN made of the members, all other attributes known."""
